import { connect, createServer, type Socket } from "node:net"

import { serveHaft } from "@haft/server"
import { temporaryWorkspace } from "@haft/testing"
import { openSessions } from "haft/internal"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { directory } from "./build.ts"
import { hasBrowser, launchBrowser, openConsole } from "./open-console.ts"
import { seriousProblems } from "./serious-problems.ts"

describe.skipIf(!hasBrowser)(
  `the event stream of the console${hasBrowser ? "" : ": skipped, /usr/bin/chromium is missing"}`,
  () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await launchBrowser()
    })
    afterAll(() => browser?.close())

    it("shows a request in each of nine tabs, and its end", async () => {
      await using console = await openConsole(browser, { "a.txt": "a\n" })
      const { page, context } = console
      const others = await Promise.all(Array.from({ length: 8 }, () => context.newPage()))
      const tabs = [page, ...others]
      await Promise.all(others.map((tab) => tab.goto(page.url(), { timeout: 20_000 })))
      await Promise.all(tabs.map((tab) => tab.getByText("Live", { exact: true }).waitFor({ timeout: 20_000 })))
      const reply = console.call("delete_path", { path: "a.txt" })
      await Promise.all(
        tabs.map((tab) => tab.getByRole("heading", { name: /delete_path/ }).waitFor({ timeout: 20_000 }))
      )
      await page.getByRole("button", { name: "Approve", exact: true }).click()
      expect(await reply).toMatchObject({ ok: true })
      await Promise.all(others.map((tab) => tab.getByText(/^Ended: approved by/).waitFor({ timeout: 20_000 })))
      expect(console.complaints).toEqual([])
    })

    it("is one for all tabs, and closed while every tab is hidden", async () => {
      await using behind = await openBehindProxy(browser)
      const { page, proxy } = behind
      await page.getByText("Live", { exact: true }).waitFor()
      const other = await page.context().newPage()
      await other.goto(page.url())
      await other.getByText("Live", { exact: true }).waitFor()
      expect(proxy.streams()).toBe(1)
      const hide = `Object.defineProperty(document, "hidden", { value: true, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"))`
      await page.evaluate(hide)
      expect(proxy.streams()).toBe(1)
      await other.evaluate(hide)
      await expect.poll(proxy.streams).toBe(0)
      await page.evaluate(`delete document.hidden; document.dispatchEvent(new Event("visibilitychange"))`)
      await page.getByText("Live", { exact: true }).waitFor()
      expect(proxy.streams()).toBe(1)
    })

    it("is not called live when the server has been silent for too long", async () => {
      await using behind = await openBehindProxy(browser)
      const { page, proxy } = behind
      await page.getByText("Live", { exact: true }).waitFor()
      proxy.freeze()
      await page.getByText("Reconnecting", { exact: true }).waitFor({ timeout: 40_000 })
      await page.getByText("The connection to the server is lost.").waitFor()
      expect(await page.getByText("Nothing is waiting").count()).toBe(0)
      proxy.thaw()
      await page.getByText("Live", { exact: true }).waitFor()
      await page.getByText("Nothing is waiting").waitFor()
    })

    it("goes on when the server was started again, without signing in", async () => {
      await using behind = await openBehindProxy(browser, { keepsSessions: true })
      const { page } = behind
      await page.getByText("Live", { exact: true }).waitFor()
      await behind.restart()
      await page.getByText("Reconnecting", { exact: true }).waitFor()
      await page.getByText("Live", { exact: true }).waitFor()
      await page.getByText("Nothing is waiting").waitFor()
      expect(await page.getByRole("dialog").count()).toBe(0)
      await page.getByRole("button", { name: "Keyboard shortcuts and session" }).click()
      await page.getByRole("button", { name: "Sign out" }).click()
      await page.getByRole("dialog", { name: "Your session has expired" }).waitFor()
    })

    it("leaves connections for all else while each of eight tabs shows a terminal", async () => {
      await using console = await openConsole(browser, {}, {}, { mode: "auto", approval: "all" })
      const { page, context } = console
      const tabs = [page, ...(await Promise.all(Array.from({ length: 7 }, () => context.newPage())))]
      const origin = new URL(page.url()).origin
      for (const [index, tab] of tabs.entries()) {
        const reply = await console.call("open_terminal", { command: `echo shown-${index}; cat` })
        const { terminal_id: id } = (reply as { result: { terminal_id: string } }).result
        await tab.goto(`${origin}/#/default/terminals/${id}`)
      }
      for (const [index, tab] of tabs.entries()) {
        await tab.locator(".xterm-rows").getByText(`shown-${index}`).first().waitFor()
        await tab.getByText("Live", { exact: true }).waitFor()
      }
      await console.asApprover("mode", { mode: "plan" }, "PUT")
      await expect.poll(() => tabs[7]!.getByLabel("Mode").inputValue()).toBe("plan")
      expect(console.complaints).toEqual([])
    })

    it("covers the console when the server was started again and keeps no sessions, and goes on after signing in", async () => {
      await using behind = await openBehindProxy(browser)
      const { page } = behind
      await page.getByText("Live", { exact: true }).waitFor()
      await behind.restart()
      await page.getByRole("dialog", { name: "Your session has expired" }).waitFor()
      // Without a click before it, Chromium lets no page keep a dialog from closing at Escape.
      for (let press = 0; press < 3; press++) await page.keyboard.press("Escape")
      await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))")
      expect(await page.getByRole("dialog").isVisible()).toBe(true)
      expect(await seriousProblems(page)).toEqual([])
      const other = await page.context().newPage()
      await other.goto(behind.link())
      await other.getByText("Live", { exact: true }).waitFor()
      await page.getByText("Live", { exact: true }).waitFor()
      expect(await page.getByRole("dialog").count()).toBe(0)
    })
  }
)

/** A console whose connections can be counted and frozen. */
const openBehindProxy = async (browser: Browser, { keepsSessions = false } = {}) => {
  const workspace = temporaryWorkspace({})
  const { root, state } = workspace
  const proxy = await openProxy()
  const origin = `http://127.0.0.1:${proxy.port}`
  const serve = async () =>
    serveHaft({
      ...(keepsSessions && { sessionStore: await openSessions({ root, state }) }),
      workspaces: { default: { root, state, sandbox: "none", approval: "ask" } },
      tokens: { approver: "the-approver-of-this-test" },
      version: "0.0.0",
      port: 0,
      alsoKnownAs: [`127.0.0.1:${proxy.port}`],
      console: directory
    })
  let server = await serve()
  proxy.lead(Number(new URL(server.url).port))
  const link = (): string => server.consoleLink().replace(server.url, origin)
  const context = await browser.newContext()
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  await page.goto(link())
  return {
    page,
    proxy,
    link,
    restart: async () => {
      await server.stop({ atOnce: true })
      server = await serve()
      proxy.lead(Number(new URL(server.url).port))
    },
    [Symbol.asyncDispose]: async () => {
      await context.close()
      await server.stop({ atOnce: true })
      proxy.close()
      workspace.remove()
    }
  }
}

const openProxy = async () => {
  let target = 0
  let isFrozen = false
  const streams = new Set<Socket>()
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(target, "127.0.0.1")
    sockets.add(near).add(far)
    near.on("data", (data) => {
      if (data.includes("GET /v1/events")) streams.add(near)
      if (!isFrozen) far.write(data)
    })
    far.on("data", (data) => !isFrozen && near.write(data))
    const end = (): void => {
      streams.delete(near)
      near.destroy()
      far.destroy()
    }
    for (const socket of [near, far]) socket.on("close", end).on("error", end)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    lead: (port: number) => {
      target = port
    },
    streams: () => streams.size,
    /** Swallows every byte and keeps the connections open, as a network that is gone does. */
    freeze: () => {
      isFrozen = true
    },
    thaw: () => {
      isFrozen = false
      for (const socket of sockets) socket.destroy()
    },
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    }
  }
}
