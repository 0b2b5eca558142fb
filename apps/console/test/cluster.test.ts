import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { findPostgres, freePort, startPostgres, type TestPostgres } from "@haft/cluster/testing"
import { type RunningServer, serveHaft } from "@haft/server"
import { temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { directory } from "./build.ts"
import { hasBrowser, launchBrowser } from "./open-console.ts"
import { seriousProblems } from "./serious-problems.ts"

const canRun = hasBrowser && findPostgres() !== undefined
const agent = "the-agent-of-this-test"

describe.skipIf(!canRun)(
  `the console of a cluster${canRun ? "" : ": skipped, Chromium or PostgreSQL is missing"}`,
  () => {
    let browser: Browser
    let postgres: TestPostgres
    let workspace: TemporaryWorkspace
    let scratch: string
    const servers: Array<RunningServer> = []

    beforeAll(async () => {
      ;[browser, postgres] = await Promise.all([launchBrowser(), startPostgres()])
      workspace = temporaryWorkspace({ "a.txt": "a\n", ".env": "SECRET=1\n" })
      scratch = mkdtempSync(join(tmpdir(), "haft-console-cluster-"))
    })
    afterAll(async () => {
      await browser?.close()
      for (const server of servers) await server.stop({ atOnce: true })
      await postgres?.remove()
      workspace?.remove()
      rmSync(scratch, { recursive: true, force: true })
    })

    const startMember = async (name: string) => {
      const address = `127.0.0.1:${await freePort()}`
      const config = { root: workspace.root, sandbox: "none", approval: "ask" } as const
      const server = await serveHaft({
        workspaces: { default: { ...config, state: join(scratch, name, "unused") } },
        cluster: {
          database: postgres.url,
          address,
          directory: join(scratch, name),
          secret: "the-secret-of-this-test",
          leaseMs: 4_000
        },
        tokens: { agent, admin: "the-admin-of-this-test" },
        version: "1.2.3",
        port: 0,
        console: directory
      })
      servers.push(server)
      return { server, address }
    }

    it("shows members, workspaces and owners, moves a workspace, and answers for each of them", async () => {
      const members = [await startMember("one"), await startMember("other")] as const
      const [one] = members
      const write = async () => {
        const response = await fetch(`${one.server.url}/v1/workspaces/default/calls`, {
          method: "POST",
          headers: { authorization: `Bearer ${agent}`, "content-type": "application/json" },
          body: JSON.stringify({ tool: "write_file", params: { path: "a.txt", content: "b\n" } })
        })
        return response.json()
      }
      const link = async (url: string): Promise<string> => {
        const response = await fetch(`${url}/v1/links`, {
          method: "POST",
          headers: { authorization: "Bearer the-admin-of-this-test", "content-type": "application/json" },
          body: "{}"
        })
        return ((await response.json()) as { readonly link: string }).link
      }
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
      context.setDefaultTimeout(60_000)
      const page = await context.newPage()
      const complaints: Array<string> = []
      page.on("pageerror", (error) => complaints.push(String(error)))
      page.on("console", (message) => message.type() === "error" && complaints.push(message.text()))
      await page.goto(await link(one.server.url))
      await page.getByText("Live", { exact: true }).waitFor()

      // No member has the workspace open yet; the first call opens it, and the question arrives.
      const written = write()
      await page.getByRole("heading", { name: "write_file" }).waitFor()
      const goTo = (screen: string) => page.getByRole("navigation").getByRole("link", { name: screen }).click()
      await goTo("cluster")
      const rows = (label: string) => page.getByRole("region", { name: label, exact: true }).locator("tbody tr")
      await rows("Members").nth(1).waitFor()
      expect(await rows("Members").getByText("Active", { exact: true }).count()).toBe(2)
      const row = rows("Workspaces and their owners").filter({ hasText: "default" })
      const ownerShown = row.locator("td").first()
      const owner = await ownerShown.innerText()
      const other = members.find(({ address }) => address !== owner)?.address ?? ""
      expect(members.map(({ address }) => address)).toContain(owner)
      await row.getByText("1 path").click()
      await row.getByText(".env").waitFor()
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme })
        expect(await seriousProblems(page)).toEqual([])
      }

      await goTo("approvals")
      await page.getByRole("button", { name: "Approve", exact: true }).click()
      expect(await written).toMatchObject({ ok: true })
      await goTo("cluster")
      await row.getByRole("button", { name: "Move default" }).click()
      await ownerShown.getByText(other).waitFor()

      // The next owner records another run: the console follows it, at whichever member it is open.
      const again = write()
      await goTo("approvals")
      await page.getByRole("button", { name: "Approve", exact: true }).click()
      expect(await again).toMatchObject({ ok: true })
      await goTo("activity")
      await page
        .getByRole("link", { name: /Succeeded write_file/ })
        .nth(1)
        .waitFor()

      // An admin may drain a member: its workspaces go to another.
      await goTo("cluster")
      await page.getByRole("button", { name: `Drain ${other}` }).click()
      await rows("Members").getByText("Draining", { exact: true }).waitFor()
      await ownerShown.getByText(owner).waitFor()
      await context.close()
      expect(complaints).toEqual([])
    })
  }
)
