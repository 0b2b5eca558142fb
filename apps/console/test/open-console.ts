import { existsSync } from "node:fs"

import { serveHaft, type ServeOptions } from "@haft/server"
import { temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"
import type { HaftConfig } from "haft/internal"
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core"

import { directory } from "./build.ts"

const executablePath = "/usr/bin/chromium"
export const hasBrowser = existsSync(executablePath)

export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync"
    ]
  })

export interface OpenConsole extends AsyncDisposable {
  readonly workspace: TemporaryWorkspace
  readonly page: Page
  readonly context: BrowserContext
  readonly origin: string
  /** Errors of the page, refusals of its content security policy among them. */
  readonly complaints: ReadonlyArray<string>
  /** A call as an agent makes it; it waits where a person is asked. The signal ends the agent's connection. */
  readonly call: (tool: string, params: unknown, signal?: AbortSignal, workspace?: string) => Promise<unknown>
  /** A request of another approver, by API. */
  readonly asApprover: (path: string, body?: unknown, method?: string) => Promise<unknown>
  readonly pending: () => Promise<ReadonlyArray<{ readonly id: string; readonly args: object }>>
  readonly goTo: (screen: string) => Promise<void>
}

/** A real server on a temporary workspace, and a browser that followed its link. */
export const openConsole = async (
  browser: Browser,
  files: Parameters<typeof temporaryWorkspace>[0] = {},
  options: BrowserContextOptions = {},
  config: HaftConfig = {},
  others: Readonly<Record<string, HaftConfig>> = {},
  serving: Partial<ServeOptions> = {}
): Promise<OpenConsole> => {
  const workspace = temporaryWorkspace(files)
  const { root, state } = workspace
  const server = await serveHaft({
    workspaces: { default: { root, state, sandbox: "none", approval: "ask", ...config }, ...others },
    tokens: { agent: "the-agent-of-this-test", approver: "the-approver-of-this-test", admin: "the-admin-of-this-test" },
    version: "0.0.0",
    port: 0,
    console: directory,
    ...serving
  })
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  // Below the tests' own limit, so that a test that fails says where.
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  const complaints: Array<string> = []
  page.on("pageerror", (error) => complaints.push(String(error)))
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()))
  await page.goto(server.consoleLink())
  await page.getByText("Live", { exact: true }).waitFor()
  const asApprover = async (path: string, body?: unknown, method = "POST"): Promise<unknown> => {
    const response = await fetch(`${server.url}/v1/workspaces/default/${path}`, {
      method: body === undefined ? "GET" : method,
      headers: { authorization: "Bearer the-approver-of-this-test", "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
    return response.json()
  }
  return {
    workspace,
    page,
    context,
    origin: server.url,
    complaints,
    asApprover,
    pending: async () =>
      ((await asApprover("approvals")) as { approvals: Awaited<ReturnType<OpenConsole["pending"]>> }).approvals,
    call: async (tool, params, signal, name = "default") => {
      const response = await fetch(`${server.url}/v1/workspaces/${name}/calls`, {
        method: "POST",
        headers: { authorization: "Bearer the-agent-of-this-test", "content-type": "application/json" },
        body: JSON.stringify({ tool, params }),
        ...(signal !== undefined && { signal })
      })
      return response.json()
    },
    goTo: (screen) =>
      page
        .getByRole("navigation")
        .getByRole("link", { name: new RegExp(screen, "i") })
        .click(),
    [Symbol.asyncDispose]: async () => {
      await context.close()
      await server.stop()
      workspace.remove()
    }
  }
}
