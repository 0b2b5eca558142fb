import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { hasBrowser, launchBrowser, openConsole } from "./open-console.ts"
import { seriousProblems } from "./serious-problems.ts"

/** Every letter in it is a shortcut somewhere, "a" (approve) and "w" (always) among them. */
const sentence = "we reject a weak draft: answer the wider question, and read a.txt"

describe.skipIf(!hasBrowser)(
  `an approval in the console${hasBrowser ? "" : ": skipped, /usr/bin/chromium is missing"}`,
  () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await launchBrowser()
    })
    afterAll(() => browser?.close())

    const endings = [
      ["times out", "timed out"],
      ["is answered by another approver", "approved by approver"],
      ["loses its caller", "the caller canceled the call or disconnected"]
    ] as const

    it.each(endings)("keeps typed feedback away from the next request when the first %s", async (how, told) => {
      const timesOut = how === "times out"
      await using console = await openConsole(
        browser,
        { "a.txt": "a\n", "b.txt": "b\n" },
        {},
        timesOut ? { approvalOptions: { timeoutMs: 12_000 } } : {}
      )
      const { page, workspace } = console
      const caller = new AbortController()
      const first = console.call("delete_path", { path: "a.txt" }, caller.signal).catch(() => undefined)
      await page.getByRole("heading", { name: /delete_path/ }).waitFor()
      if (timesOut) await page.waitForTimeout(8_000)
      const second = console.call("run_command", { command: "touch ran" })
      await page.getByRole("button", { name: /touch ran/ }).waitFor()
      await page.getByRole("button", { name: /a\.txt/ }).click()
      await page.keyboard.press("r")
      await page.locator("form input:focus").waitFor()
      const half = Math.floor(sentence.length / 2)
      await page.keyboard.type(sentence.slice(0, half))

      if (how === "loses its caller") caller.abort()
      if (how === "is answered by another approver") {
        const [asked] = await console.pending()
        await console.asApprover(`approvals/${asked?.id}`, { approved: true })
      }
      await first
      await expect.poll(async () => (await console.pending()).length).toBe(1)
      // The list shows the end of the first request before the rest is typed.
      await expect.poll(() => page.locator(".card").count()).toBe(1)
      await page.keyboard.type(sentence.slice(half), { delay: 20 })
      await page.keyboard.press("Enter")

      expect(await console.pending()).toMatchObject([{ args: { command: "touch ran" } }])
      expect(workspace.exists("ran")).toBe(false)
      expect(await console.asApprover("rules")).toEqual({ rules: [] })
      expect(await page.locator("form input:focus").inputValue()).toBe(sentence)
      await page.getByText(`Ended: ${told}.`).waitFor()
      expect(timesOut ? [] : await seriousProblems(page)).toEqual([])

      // Going on is the person's own step. It enables the keys.
      await page.getByRole("button", { name: "Next request" }).click()
      await page.getByRole("heading", { name: /run_command/ }).waitFor()
      await page.keyboard.press("d")
      expect(await second).toMatchObject({ ok: false })
      expect(console.complaints).toEqual([])
    })

    it("keeps an edit of the arguments on screen when its request ends, and sends it nowhere", async () => {
      await using console = await openConsole(browser)
      const { page, workspace } = console
      const first = console.call("run_command", { command: "touch one" })
      await page.getByRole("button", { name: /touch one/ }).click()
      const second = console.call("run_command", { command: "touch two" })
      await page.getByRole("button", { name: /touch two/ }).waitFor()
      await page.keyboard.press("e")
      await page.locator("textarea:focus, input:focus").waitFor()
      const [asked] = await console.pending()
      await console.asApprover(`approvals/${asked?.id}`, { approved: false })
      expect(await first).toMatchObject({ ok: false })
      await expect.poll(() => page.locator(".card").count()).toBe(1)
      await page.keyboard.type(" and always more")
      await page.getByText("Ended: denied by approver.").waitFor()
      expect(await page.getByRole("button", { name: "Approve these arguments" }).isDisabled()).toBe(true)
      expect(await page.locator("textarea:focus, input:focus").inputValue()).toContain("always more")
      expect(await console.pending()).toMatchObject([{ args: { command: "touch two" } }])
      expect([workspace.exists("one"), workspace.exists("two")]).toEqual([false, false])
      await console.asApprover(`approvals/${(await console.pending())[0]?.id}`, { approved: false })
      await second
    })

    it("keeps the form of a large request while others arrive and end", async () => {
      await using console = await openConsole(browser)
      const { page } = console
      const large = console.call("write_file", { path: "large.txt", content: "line\n".repeat(5_000) })
      await page.getByRole("button", { name: /large\.txt/ }).click()
      await page.keyboard.press("r")
      await page.locator("form input:focus").waitFor()
      await page.keyboard.type("a reason")
      const other = console.call("run_command", { command: "touch other" })
      await page.getByRole("button", { name: /touch other/ }).waitFor()
      await page.keyboard.type(", and a detail")
      expect(await page.locator("form input:focus").inputValue()).toBe("a reason, and a detail")
      await page.keyboard.press("Enter")
      expect(await large).toMatchObject({ error: { message: expect.stringContaining("a reason, and a detail") } })
      for (const { id } of await console.pending()) await console.asApprover(`approvals/${id}`, { approved: false })
      await other
    })

    it("takes single keys only for a request that the person chose", async () => {
      await using console = await openConsole(browser, { "a.txt": "a\n" })
      const { page, workspace } = console
      const reply = console.call("delete_path", { path: "a.txt" })
      await page.getByRole("heading", { name: /delete_path/ }).waitFor()
      await page.keyboard.type("adrew")
      expect(await page.locator("form").count()).toBe(0)
      expect((await console.pending()).length).toBe(1)
      await page.keyboard.type("ja")
      expect(await reply).toMatchObject({ ok: true })
      expect(workspace.exists("a.txt")).toBe(false)
    })
  }
)
