import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { hasBrowser, launchBrowser, openConsole } from "./open-console.ts"
import { seriousProblems } from "./serious-problems.ts"

const lines = (changed: ReadonlyArray<number> = []): string =>
  Array.from({ length: 40 }, (_, index) => `${changed.includes(index + 1) ? "CHANGED" : "line"} ${index + 1}\n`).join(
    ""
  )

describe.skipIf(!hasBrowser)(
  `reviews in the console${hasBrowser ? "" : ": skipped, /usr/bin/chromium is missing"}`,
  () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await launchBrowser()
    })
    afterAll(() => browser?.close())

    it("approves some hunks of a change, and tells the agent which were refused", async () => {
      await using console = await openConsole(browser, { "a.txt": lines() })
      const { page, workspace } = console
      const reply = console.call("write_file", { path: "a.txt", content: lines([2, 20, 39]) })
      await page.getByRole("checkbox", { name: "Hunk 2 of a.txt" }).uncheck()
      // Single keys approve nothing in part.
      await page
        .getByRole("button", { name: /a\.txt/ })
        .first()
        .click()
      await page.getByRole("heading", { name: /write_file/ }).click()
      await page.keyboard.press("a")
      expect(await seriousProblems(page)).toEqual([])
      await page.getByRole("button", { name: "Approve 2 of 3 hunks" }).click()
      expect(await reply).toMatchObject({
        ok: true,
        adjusted: [expect.stringMatching(/^approved in part: hunk 2 of a\.txt refused/)]
      })
      expect(workspace.read("a.txt")).toBe(lines([2, 39]))
      expect(console.complaints).toEqual([])
    })

    it("shows a run as one diff, reverts a hunk, a file and everything, and sends comments to the agent", async () => {
      await using console = await openConsole(
        browser,
        { "a.txt": lines(), "b.txt": "b\n" },
        {},
        { mode: "accept-edits" }
      )
      const { page, workspace } = console
      await console.call("write_file", { path: "a.txt", content: lines([2, 20]) })
      await console.call("write_file", { path: "b.txt", content: "B\n" })
      await console.call("write_file", { path: "c.txt", content: "c\n" })
      await console.goTo("review")
      const files = page.getByRole("navigation", { name: "Changed files" })
      await files.getByRole("button", { name: "c.txt" }).waitFor()
      expect(await files.getByRole("listitem").count()).toBe(3)
      await page.getByLabel("Layout of diffs").first().selectOption("unified")
      await page.locator("table.unified").first().waitFor()
      await page.getByRole("button", { name: "Revert hunk 1 of a.txt" }).click()
      await expect.poll(() => workspace.read("a.txt")).toBe(lines([20]))
      await page.getByLabel("Comment on a.txt").fill("keep line 2")
      expect(await seriousProblems(page)).toEqual([])
      await page.getByRole("region", { name: "a.txt" }).getByRole("button", { name: "Comment" }).click()
      await page.getByText("Sent to agent").waitFor()
      expect(await console.call("read_file", { path: "b.txt" })).toMatchObject({
        adjusted: ["message from console: about a.txt: keep line 2"]
      })
      await page.getByRole("button", { name: "Revert b.txt" }).click()
      await expect.poll(() => workspace.read("b.txt")).toBe("b\n")
      await page.getByRole("button", { name: "Revert everything" }).click()
      await expect.poll(() => [workspace.read("a.txt"), workspace.exists("c.txt")]).toEqual([lines(), false])
      expect(console.complaints).toEqual([])
    })

    it("shows unified diffs below 900 pixels", async () => {
      await using console = await openConsole(browser, { "a.txt": lines() }, { viewport: { width: 800, height: 700 } })
      const { page } = console
      const reply = console.call("write_file", { path: "a.txt", content: lines([2]) })
      await page.locator("table.unified").waitFor()
      expect(await page.locator("td.diff-text.before:not(.same)").innerText()).toContain("line 2")
      expect(await page.locator("td.diff-text.after:not(.same)").innerText()).toContain("CHANGED 2")
      await page.getByRole("button", { name: "Deny", exact: true }).click()
      await reply
    })
  }
)
