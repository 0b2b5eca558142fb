import { temporaryWorkspace } from "@haft/testing"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"

import { hasBrowser, launchBrowser, openConsole } from "./open-console.ts"
import { seriousProblems } from "./serious-problems.ts"

describe.skipIf(!hasBrowser)(
  `the console over all workspaces${hasBrowser ? "" : ": skipped, /usr/bin/chromium is missing"}`,
  () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await launchBrowser()
    })
    afterAll(() => browser?.close())

    it("shows the requests of all workspaces in one inbox, and answers several at once", async () => {
      const docs = temporaryWorkspace({})
      onTestFinished(() => docs.remove())
      const { root, state } = docs
      await using console = await openConsole(browser, {}, {}, {}, { docs: { root, state, sandbox: "none" } })
      const { page } = console
      const replies = [
        console.call("write_file", { path: "own.txt", content: "1" }),
        console.call("write_file", { path: "other.txt", content: "2" }, undefined, "docs"),
        console.call("write_file", { path: "other.txt", content: "2" }, undefined, "docs")
      ]
      await page.getByText("Pending 3").waitFor()
      await page.getByLabel("Workspace of the requests").selectOption("docs")
      await page.getByText("Pending 2").waitFor()
      await page.getByText("Select several").click()
      await page.getByLabel(/docs: write_file other\.txt × 2/).check()
      expect(await seriousProblems(page)).toEqual([])
      await page.getByRole("button", { name: "Deny 2 selected" }).click()
      expect(await replies[1]).toMatchObject({ ok: false })
      await page.getByLabel("Workspace of the requests").selectOption("")
      await page.getByRole("heading", { name: /write_file/ }).waitFor()
      await page.getByRole("button", { name: /own\.txt/ }).click()
      await page.getByRole("button", { name: "Approve", exact: true }).click()
      expect(await replies[0]).toMatchObject({ ok: true })
      await console.goTo("overview")
      await page.getByRole("row", { name: /docs ask 0 0 0 1 just now not built Healthy/ }).waitFor()
      expect(await seriousProblems(page)).toEqual([])
      expect(console.complaints).toEqual([])
    })

    it("pauses an agent, sends it a message, and stops a call", async () => {
      await using console = await openConsole(browser, { "a.txt": "a\n" }, {}, { approval: "all" })
      const { page } = console
      await console.call("read_file", { path: "a.txt" })
      await console.goTo("overview")
      await page.getByRole("button", { name: "Pause agent" }).click()
      await page.getByText("Paused by console").waitFor()
      const held = console.call("read_file", { path: "a.txt" })
      await page.getByLabel("Message to agent").fill("and then b.txt")
      await page.getByRole("button", { name: "Send" }).click()
      await page.getByText("1 unread").waitFor()
      await page.getByRole("button", { name: "Resume agent" }).click()
      expect(await held).toMatchObject({ ok: true, adjusted: ["message from console: and then b.txt"] })
      const slow = console.call("run_command", { command: "sleep 60" })
      await console.goTo("activity")
      await page.getByRole("link", { name: /Running run_command/ }).click()
      await page.getByRole("button", { name: "Stop this call" }).click()
      expect(await slow).toMatchObject({ error: { message: "the call was stopped by console" } })
    })

    it("follows a link to a request while it is open and after it has ended, and finds it by search", async () => {
      await using console = await openConsole(browser, { "a.txt": "a\n" })
      const { page } = console
      const first = console.call("delete_path", { path: "missing-one" })
      const second = console.call("write_file", { path: "a.txt", content: "a needle" })
      await page.getByRole("button", { name: /a\.txt/ }).click()
      const link = await page.getByRole("link", { name: "Permalink" }).getAttribute("href")
      await page.goto("about:blank")
      await page.goto(`${console.origin}/${link}`)
      await page.getByRole("heading", { name: /write_file/ }).waitFor()
      for (const { id } of await console.pending()) await console.asApprover(`approvals/${id}`, { approved: false })
      await Promise.all([first, second])
      await page.goto("about:blank")
      await page.goto(`${console.origin}/${link}`)
      await page.getByRole("link", { name: "See the call" }).click()
      await page.getByText("asked by the contract").waitFor()
      await page.getByRole("searchbox", { name: "Search" }).fill("needle")
      await page.getByRole("button", { name: "Search all runs" }).click()
      await page
        .getByRole("region", { name: "Results from all runs" })
        .getByRole("link", { name: /a\.txt/ })
        .waitFor()
      const download = page.waitForEvent("download")
      await page.getByRole("button", { name: "Export" }).click()
      expect((await download).suggestedFilename()).toMatch(/^haft-.*\.jsonl$/)
      expect(console.complaints).toEqual([])
    })
  }
)
