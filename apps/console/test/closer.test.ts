import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { hasBrowser, launchBrowser, openConsole } from "./open-console.ts"
import { seriousProblems } from "./serious-problems.ts"

describe.skipIf(!hasBrowser)(
  `the console, looked at closely${hasBrowser ? "" : ": skipped, /usr/bin/chromium is missing"}`,
  () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await launchBrowser()
    })
    afterAll(() => browser?.close())

    it("shows what a call changed, with the lines' numbers, and what it printed", async () => {
      const lines = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`)
      await using console = await openConsole(browser, { "long.txt": `${lines.join("\n")}\n` })
      const { page } = console
      const approve = async (tool: string, params: object) => {
        const reply = console.call(tool, params)
        await page.getByRole("heading", { name: tool }).waitFor()
        await page.getByRole("button", { name: "Approve", exact: true }).click()
        expect(await reply).toMatchObject({ ok: true })
      }
      await approve("write_file", { path: "long.txt", content: `${lines.join("\n").replace("line 30", "LINE 30")}\n` })
      await approve("run_command", { command: "echo first; echo second; echo oops >&2" })
      await console.goTo("activity")
      await page.getByRole("link", { name: /run_command/ }).click()
      expect(await sectionOf("Standard output").innerText()).toContain("first\nsecond")
      expect(await sectionOf("Standard error").innerText()).toContain("oops")
      await page.getByRole("link", { name: /write_file/ }).click()
      const change = page.getByRole("table", { name: "long.txt" })
      await change.waitFor()
      expect(await change.locator("td.diff-number.before:not(.same)").innerText()).toBe("30")
      expect(await change.locator("td.diff-text.before:not(.same)").innerText()).toContain("line 30")
      expect(await change.locator("td.diff-text.after:not(.same)").innerText()).toContain("LINE 30")
      // The record keeps what was approved, also when the file has changed again.
      console.workspace.put("long.txt", "something else\n")
      await page.reload()
      await page.getByRole("heading", { name: "The change that was approved" }).waitFor()
      expect(console.complaints).toEqual([])

      function sectionOf(title: string) {
        return page.locator("section", { has: page.getByRole("heading", { name: title }) }).locator("pre")
      }
    })

    it.runIf(process.platform === "linux")("shows what a command changed like a patch", async () => {
      const files = { "a.txt": "one\n", ".gitignore": "out\n" }
      await using console = await openConsole(browser, files, {}, { sandbox: "unshare" })
      const { page } = console
      const command = "echo two >> a.txt; echo n > new.txt; mkdir out; echo x > out/built; mkfifo pipe"
      const reply = console.call("run_command", { command })
      await page.getByRole("button", { name: "Approve", exact: true }).click()
      expect(await reply).toMatchObject({ ok: true, result: { changes: { outcome: "committed" } } })
      // The diff is kept, also when the file has changed again.
      console.workspace.put("a.txt", "something else\n")
      await console.goTo("activity")
      await page.getByRole("link", { name: /run_command/ }).click()
      const change = page.getByRole("table", { name: "a.txt" })
      await change.waitFor()
      expect(await change.locator("td.diff-text.after:not(.same)").innerText()).toContain("two")
      await page.getByRole("table", { name: "new.txt" }).waitFor()
      await page.getByText("committed: 3 created, 1 modified, 0 deleted").waitFor()
      await page.getByText("pipe (it is a pipe, a socket or a device)").waitFor()
      expect(await page.getByRole("table", { name: "out/built" }).count()).toBe(0)
      expect(console.complaints).toEqual([])
    })

    it("begins at the top of another screen, and of another call", async () => {
      await using console = await openConsole(browser, { "a.txt": "a\n".repeat(500), "b.txt": "b\n".repeat(500) })
      const { page } = console
      for (const path of ["a.txt", "b.txt"]) await console.call("read_file", { path })
      await console.goTo("activity")
      const detail = page.getByRole("article")
      const scroll = (to: number) => detail.evaluate((box, top) => box.scrollTo(0, top), to)
      await page.getByRole("link", { name: /a\.txt/ }).click()
      await detail.getByText("Reply").waitFor()
      await scroll(200)
      await page.getByRole("link", { name: /b\.txt/ }).click()
      await detail.getByText('"b.txt"').first().waitFor()
      expect(await detail.evaluate((box) => box.scrollTop)).toBe(0)
      await console.goTo("rules")
      const main = page.locator("main")
      for (let rule = 0; rule < 8; rule++) {
        await page.getByRole("button", { name: "Add a rule" }).click()
        await page.getByLabel("Name").fill(`rule-${rule}`)
        await page.getByLabel("Tool").fill("write_file")
        await page.getByRole("button", { name: "Save the rule" }).click()
        await page.getByRole("button", { name: `Edit rule-${rule}` }).waitFor()
      }
      await main.evaluate((box) => box.scrollTo(0, 500))
      // The editor opens far above the button, and is scrolled to.
      await page.getByRole("button", { name: "Edit rule-7" }).click()
      await page.locator("input:focus").waitFor()
      expect(await page.locator("input:focus").inputValue()).toBe("rule-7")
      await main.evaluate((box) => box.scrollTo(0, 500))
      await console.goTo("metrics")
      await page.getByRole("heading", { name: "Metrics" }).waitFor()
      expect(await main.evaluate((box) => box.scrollTop)).toBe(0)
      expect(console.complaints).toEqual([])
    })

    it("edits an entry of a list in fields of its own", async () => {
      await using console = await openConsole(browser, { "a.txt": "one\ntwo\n" })
      const { page, workspace } = console
      const edits = [
        { find: "one", replace: "1" },
        { find: "two", replace: "2" }
      ]
      const reply = console.call("edit_file", { path: "a.txt", edits })
      await page.getByRole("heading", { name: /edit_file/ }).waitFor()
      await page.keyboard.type("je")
      const second = page.getByRole("group", { name: "edits 2" })
      await second.getByLabel(/^replace/).fill("zwei\n")
      await page.getByRole("button", { name: "Remove edits 1" }).click()
      await page.getByRole("group", { name: "edits 1" }).getByLabel(/^find/).waitFor()
      await page.getByRole("button", { name: "Approve these arguments" }).click()
      expect(await reply).toMatchObject({ ok: true })
      expect(workspace.read("a.txt")).toBe("one\nzwei\n\n")
      expect(console.complaints).toEqual([])
    })

    it("keeps what haft keeps about a rule when it is edited", async () => {
      await using console = await openConsole(browser, { "a.txt": "a\n" })
      const { page } = console
      await console.goTo("rules")
      await page.getByRole("button", { name: "Add a rule" }).click()
      await page.getByLabel("Name").fill("letters")
      await page.getByLabel("Tool").fill("write_file")
      await page.getByLabel("Only these paths (written)").fill("a.txt")
      await page.getByLabel("Max uses").fill("2")
      await page.getByRole("button", { name: "Save the rule" }).click()
      await page.getByText("writes a.txt").waitFor()
      expect(await console.call("write_file", { path: "a.txt", content: "b\n" })).toMatchObject({ ok: true })
      await page.getByRole("checkbox").click()
      await page.locator(".card.is-off").getByText("used 1 of 2 times").waitFor()
      await page.getByRole("button", { name: "Edit letters" }).click()
      expect(await page.getByLabel("Only these paths (written)").inputValue()).toBe("a.txt")
      expect(await page.getByLabel("Max uses").inputValue()).toBe("2")
      await page.getByLabel("Note", { exact: true }).fill("noted")
      await page.getByRole("button", { name: "Save the rule" }).click()
      await page.locator(".card.is-off").getByText("used 1 of 2 times · noted").waitFor()
    })

    it("says that it does not know, instead of that there is nothing", async () => {
      await using console = await openConsole(browser)
      const { page } = console
      await console.call("list_dir", {})
      const fails = (what: string) => page.route(what, (route) => route.fulfill({ status: 500, json: sorry }))
      const sorry = { error: { code: "internal_error", message: "It is broken." } }
      await page.route("**/runs", (route) => route.fulfill({ json: { runs: [{ name: "older", bytes: 1 }] } }))
      await fails("**/approvals")
      await fails("**/runs/older/events*")
      await fails("**/metrics?run=older")
      await page.reload()
      await page.getByRole("alert").filter({ hasText: "It is broken." }).waitFor()
      expect(await page.getByText("Nothing is waiting").count()).toBe(0)
      for (const screen of ["activity", "metrics"]) {
        await console.goTo(screen)
        await page.getByLabel("Run", { exact: true }).selectOption("older")
        await page.getByRole("alert").filter({ hasText: "It is broken." }).waitFor()
        expect(await page.locator(".call-tool, tbody th").count()).toBe(0)
        await page.getByLabel("Run", { exact: true }).selectOption("This run")
        await page.locator(".call-tool, tbody th").getByText("list_dir").waitFor()
      }
    })

    it("has no serious problem of accessibility in its dialog, panels and forms", async () => {
      await using console = await openConsole(browser, { "a.txt": "a\n".repeat(10) })
      const { page } = console
      void console.call("edit_file", { path: "a.txt", edits: [{ find: "a\n", replace: "b\n".repeat(20), all: true }] })
      await page.getByRole("heading", { name: /edit_file/ }).waitFor()
      const found: Array<string> = []
      const look = async (where: string) => {
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme })
          found.push(...(await seriousProblems(page)).map((problem) => `${where}, ${colorScheme}: ${problem}`))
        }
      }
      await page.keyboard.press("?")
      await page.getByRole("dialog").waitFor()
      await look("the list of keys")
      await page.getByRole("button", { name: "Close" }).click()
      await page.getByRole("dialog").waitFor({ state: "hidden" })
      await page.keyboard.type("jr")
      await page.getByLabel(/^Message to the agent/).waitFor()
      await look("a reason to deny")
      await page.getByRole("button", { name: "Cancel" }).click()
      await page.keyboard.press("w")
      await page.getByText("This rule would be stored").waitFor()
      await look("the rule it would store")
      await page.getByRole("button", { name: "as JSON" }).click()
      await look("the rule as JSON")
      await page.getByRole("button", { name: "Cancel" }).click()
      await page.keyboard.press("e")
      await page.getByRole("button", { name: "Preview" }).click()
      await page.getByRole("heading", { name: "Needs a person" }).waitFor()
      await look("the edited arguments")
      await console.goTo("tools")
      await page.getByRole("link", { name: /^edit_file/ }).click()
      await page.getByRole("button", { name: "Call" }).click()
      await page.getByText("This is needed.").first().waitFor()
      await look("a form with something missing")
      await page.getByRole("searchbox").fill("nothing like it")
      await page.getByText("No tool fits the search.").waitFor()
      await look("a search without a result")
      expect(found).toEqual([])
    }, 120_000)

    it("draws a diff of thousands of lines only when somebody wants to see it", async () => {
      await using console = await openConsole(browser)
      const { page } = console
      void console.call("write_file", { path: "long.txt", content: "x\n".repeat(9_000) })
      const long = page.getByText("A long diff: 9,000 lines")
      await long.waitFor()
      expect(await page.locator("tr").count()).toBe(0)
      await long.click()
      await page.getByRole("table", { name: "long.txt" }).waitFor()
      expect(await page.locator("tbody tr").count()).toBe(9_000)
    })

    it("finds room for long names, and no link moves when another is chosen", async () => {
      await using console = await openConsole(browser)
      const { page } = console
      const name = "a-workspace-with-a-name-that-is-far-longer-than-anybody-would-want-to-type"
      await page.route("**/v1/workspaces", async (route) => {
        const { workspaces } = (await (await route.fetch()).json()) as { workspaces: [object] }
        await route.fulfill({ json: { workspaces: [...workspaces, { ...workspaces[0], name }] } })
      })
      await page.reload()
      await page.getByText("Live", { exact: true }).waitFor()
      const links = page.getByRole("navigation").getByRole("link")
      const places = async () => Promise.all((await links.all()).map(async (link) => (await link.boundingBox())?.x))
      const before = await places()
      await console.goTo("metrics")
      await page.locator("main.metrics").waitFor()
      expect(await places()).toEqual(before)
      expect(await page.locator(".header").evaluate((header) => header.clientHeight)).toBeLessThan(60)
    })
  }
)
