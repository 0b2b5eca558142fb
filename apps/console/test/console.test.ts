import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { hasBrowser, launchBrowser, openConsole } from "./open-console.ts"
import { seriousProblems } from "./serious-problems.ts"

const screens = ["approvals", "activity", "review", "terminals", "tools", "rules", "metrics", "overview"]

describe.skipIf(!hasBrowser)(
  `the console in a browser${hasBrowser ? "" : ": skipped, /usr/bin/chromium is missing"}`,
  () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await launchBrowser()
    })
    afterAll(() => browser?.close())

    it("lets a person approve with edited arguments, shows the call, and takes it back", async () => {
      await using console = await openConsole(browser, { "greeting.txt": "hello\n" })
      const { page, workspace } = console
      const reply = console.call("write_file", { path: "greeting.txt", content: "goodbye\n" })

      await page.getByRole("heading", { name: /write_file/ }).waitFor()
      const change = page.getByRole("table", { name: "greeting.txt" })
      expect(await change.locator("td.diff-text.before").innerText()).toContain("hello")
      expect(await change.locator("td.diff-text.after").innerText()).toContain("goodbye")
      expect(workspace.read("greeting.txt")).toBe("hello\n")

      await page.keyboard.type("je")
      await page.getByLabel("content").fill("hello, world\n")
      await page.getByRole("button", { name: "Preview" }).click()
      await page.getByText("hello, world").last().waitFor()
      await page.getByRole("button", { name: "Approve these arguments" }).click()
      expect(await reply).toMatchObject({ ok: true, result: { path: "greeting.txt" } })
      expect(workspace.read("greeting.txt")).toBe("hello, world\n")
      await page.getByText("Nothing is waiting").waitFor()

      await console.goTo("activity")
      await page.getByRole("link", { name: /Succeeded write_file greeting\.txt/ }).click()
      await page.getByText("Approved by console: approved").waitFor()
      await page.getByRole("button", { name: "Revert" }).click()
      await page.getByText("Reverted: greeting.txt").waitFor()
      expect(workspace.read("greeting.txt")).toBe("hello\n")
      await page.getByRole("link", { name: /Succeeded undo/ }).waitFor()
      expect(console.complaints).toEqual([])
    })

    it("edits and approves a command by keyboard alone, with a look at what the rules say to it", async () => {
      await using console = await openConsole(browser)
      const { page, workspace } = console
      const reply = console.call("run_command", { command: "touch asked" })
      await page.getByRole("heading", { name: /run_command/ }).waitFor()
      const goOnTo = async (name: string) => {
        const button = page.getByRole("button", { name })
        for (let stops = 0; stops < 20; stops++) {
          if (await button.evaluate((element) => element.matches(":focus"))) return
          await page.keyboard.press("Tab")
        }
        throw new Error(`no way to ${name}`)
      }
      await page.keyboard.type("je")
      await page.locator("textarea:focus, input:focus").waitFor()
      await page.keyboard.press("ControlOrMeta+a")
      await page.keyboard.type("touch edited")
      await goOnTo("Preview")
      await page.keyboard.press("Enter")
      await page.getByRole("heading", { name: "Needs a person" }).waitFor()
      await page.getByRole("definition").filter({ hasText: "touch edited" }).waitFor()
      await page.keyboard.press("Shift+Tab")
      await goOnTo("Approve these arguments")
      await page.keyboard.press("Enter")
      expect(await reply).toMatchObject({ ok: true })
      expect([workspace.exists("asked"), workspace.exists("edited")]).toEqual([false, true])
      expect(console.complaints).toEqual([])
    })

    it.each([
      ["tells of a request that arrives while the person looks elsewhere", { throws: false }],
      ["works on where a browser allows notifications and then makes none", { throws: true }]
    ])("%s", async (_, { throws }) => {
      await using console = await openConsole(browser)
      const { page } = console
      await page.addInitScript(notificationsAreAllowed, throws)
      await page.reload()
      await page.getByText("Live", { exact: true }).waitFor()
      void console.call("fetch_url", { url: "https://example.invalid/page" })
      await page.getByRole("heading", { name: /fetch_url/ }).waitFor()
      await page.getByRole("button", { name: "Approve", exact: true }).first().waitFor()
      const told = await page.evaluate("globalThis.told")
      expect(told).toEqual(throws ? [] : ["default: fetch_url waits for approval: https://example.invalid/page"])
      expect(console.complaints).toEqual([])
    })

    it("changes nothing when a person refuses, and tells the agent why", async () => {
      await using console = await openConsole(browser, { "keep.txt": "kept\n" })
      const { page, workspace } = console
      const reply = console.call("delete_path", { path: "keep.txt" })
      await page.getByRole("heading", { name: /delete_path/ }).waitFor()
      await page.keyboard.type("jr")
      await page.getByLabel("Message to the agent").fill("it is still needed")
      await page.keyboard.press("Enter")
      expect(await reply).toMatchObject({
        ok: false,
        error: { code: "approval_denied", message: expect.stringContaining("it is still needed") }
      })
      expect(workspace.read("keep.txt")).toBe("kept\n")
      await console.goTo("activity")
      await page.getByRole("link", { name: /Denied delete_path keep\.txt/ }).waitFor()
      expect(console.complaints).toEqual([])
    })

    it("works through a queue by keyboard, and an answer does not hit the next request", async () => {
      await using console = await openConsole(browser, { "one.txt": "1\n", "two.txt": "2\n" })
      const { page, workspace } = console
      const first = console.call("delete_path", { path: "one.txt" })
      await page.getByRole("heading", { name: /delete_path/ }).waitFor()
      const second = console.call("delete_path", { path: "two.txt" })
      await page.getByRole("button", { name: /two\.txt/ }).waitFor()
      await page.keyboard.type("jaa")
      expect(await first).toMatchObject({ ok: true })
      await page
        .getByRole("button", { name: /two\.txt/, pressed: false })
        .and(page.locator("[aria-current=true]"))
        .waitFor()
      expect(workspace.exists("two.txt")).toBe(true)
      await page.getByRole("button", { name: "Deny", exact: true }).click()
      expect(await second).toMatchObject({ ok: false })
      expect([workspace.exists("one.txt"), workspace.exists("two.txt")]).toEqual([false, true])
    })

    it("stores the rule that it showed, and the same call asks no more", async () => {
      await using console = await openConsole(browser, { "log.txt": "" })
      const { page } = console
      const params = { path: "log.txt", content: "same\n" }
      const reply = console.call("write_file", params)
      await page.getByRole("heading", { name: /write_file/ }).waitFor()
      await page.keyboard.type("jw")
      await page.getByText("writes log.txt").waitFor()
      await page.getByLabel("exactly these arguments").check()
      await page.getByText("exactly with").waitFor()
      await page.getByLabel("Scope").selectOption("In this workspace")
      await page.getByLabel("exactly these arguments").press("Enter")
      expect(await reply).toMatchObject({ ok: true })
      expect(await console.call("write_file", params)).toMatchObject({ ok: true })
      await console.goTo("rules")
      await page.getByText(/exactly these arguments, answered to/).waitFor()
      await page.getByRole("checkbox").click()
      await page.locator(".card.is-off").waitFor()
      await page.getByRole("button", { name: /^Delete/ }).click()
      await page.getByRole("button", { name: "Delete", exact: true }).click()
      await page.getByText("No rules yet").waitFor()
    })

    it("adds a rule, refuses a bad one in words, and simulates", async () => {
      await using console = await openConsole(browser)
      const { page } = console
      const reply = console.call("write_file", { path: "docs/a.md", content: "a\n" })
      await page.getByRole("heading", { name: /write_file/ }).waitFor()
      await page.keyboard.type("ja")
      await reply
      await console.goTo("rules")
      await page.getByRole("button", { name: "Add a rule" }).click()
      await page.getByLabel("Name").fill("docs")
      await page.getByLabel("Tool").fill("write_file")
      await page.getByText("Other conditions").click()
      await page.getByLabel(/^JSON/).fill("{")
      await page.getByRole("button", { name: "Save the rule" }).click()
      await page.getByRole("alert").filter({ hasText: "The other conditions are not JSON." }).waitFor()
      const notConditions = [
        ["null", "The other conditions must be a JSON object"],
        ["5", "The other conditions must be a JSON object"],
        ['["docs/**"]', "The other conditions must be a JSON object"],
        ['{"decision":"deny"}', '"decision" has a field of its own.'],
        ['{"touches":{"write":"docs/**"}}', "unknown key 'write'"],
        ['{"pattern":"("}', "missing closing )"]
      ] as const
      for (const [conditions, complaint] of notConditions) {
        await page.getByLabel(/^JSON/).fill(conditions)
        await page.getByRole("button", { name: "Save the rule" }).click()
        await page.getByRole("alert").filter({ hasText: complaint }).waitFor()
      }
      await page.getByLabel(/^JSON/).fill("")
      await page.getByLabel("Only these paths (written)").fill("docs/**")
      await page.getByText("With this rule, 1 call of this run would be allowed").waitFor()
      await page.getByText("write_file: asked → allow").waitFor()
      await page.getByRole("button", { name: "Save the rule" }).click()
      await page.getByRole("button", { name: "Edit docs" }).waitFor()
      await page.getByRole("button", { name: "Run simulation" }).click()
      await page.getByText("1 call would go another way").waitFor()
    })

    it("tries a tool from its form, and says what is missing", async () => {
      await using console = await openConsole(browser, { "a.txt": "alpha\n" })
      const { page } = console
      await console.goTo("tools")
      await page.getByRole("link", { name: /^read_file\b/ }).click()
      await page.getByLabel(/^start_line/).fill("zero")
      await page.getByRole("button", { name: "Call" }).click()
      await page.getByText("This is not a number.").waitFor()
      await page.getByLabel(/^start_line/).fill("")
      await page.getByLabel(/^path/).fill("a.txt")
      await page.getByRole("button", { name: "Call" }).click()
      await page.getByText(/alpha/).waitFor()
      expect(console.complaints).toEqual([])
    })

    it("shows a terminal as it runs, and types into it when taken over", async () => {
      await using console = await openConsole(browser)
      const { page } = console
      const opened = console.call("open_terminal", { command: "echo ready; cat" })
      await page.getByRole("heading", { name: /open_terminal/ }).waitFor()
      await page.keyboard.type("ja")
      expect(await opened).toMatchObject({ ok: true })
      await console.goTo("terminals")
      const rows = page.locator(".xterm-rows")
      await rows.getByText("ready").waitFor()
      await page.getByRole("button", { name: "Take over" }).click()
      await page.keyboard.type("echoed by cat")
      await page.keyboard.press("Enter")
      await rows.getByText("echoed by cat").last().waitFor()
      await page.keyboard.press("Control+Shift+Enter")
      await page.getByText("You are watching").waitFor()
      await page.locator("button:focus", { hasText: "Take over" }).waitFor()
      expect(console.complaints).toEqual([])
    })

    it("carries out no endless order of a program, and leaves its questions to the host", async () => {
      await using console = await openConsole(browser)
      const { page } = console
      const typed: Array<string> = []
      page.on("request", (request) => {
        if (request.url().endsWith("/input")) typed.push((request.postDataJSON() as { text: string }).text)
      })
      const endless = ["I", "Z", "b", "L", "M", "S", "T"].map((order) => String.raw`\033[2147483647${order}`).join("")
      const questions = String.raw`\033[6n\033[c\033[>c\033[?25$p\033]11;?\007\033P$qm\033\134`
      const opened = console.call("open_terminal", {
        command: `printf 'before${endless}\nready\n'; read line; printf '${questions}\nasked\n'; cat`
      })
      await page.getByRole("heading", { name: /open_terminal/ }).waitFor()
      await page.keyboard.type("ja")
      expect(await opened).toMatchObject({ ok: true })
      await console.goTo("terminals")
      const rows = page.locator(".xterm-rows")
      await rows.getByText("ready", { exact: true }).waitFor()
      await page.getByRole("button", { name: "Take over" }).click()
      await page.keyboard.type("go\n")
      await rows.getByText("asked", { exact: true }).waitFor()
      await page.keyboard.type("typed\n")
      await rows.getByText("typed").last().waitFor()
      await expect.poll(() => typed.join("")).toBe("go\rtyped\r")
      expect(console.complaints).toEqual([])
    })

    it("shows the calls of the past, however large their record is", async () => {
      await using console = await openConsole(browser, { "large.txt": "x".repeat(2_000) })
      const { page } = console
      for (let round = 0; round < 30; round++) {
        await Promise.all(Array.from({ length: 20 }, () => console.call("read_file", { path: "large.txt" })))
      }
      await page.reload()
      await console.goTo("activity")
      await page.getByText("600 calls").waitFor()
      expect(console.complaints).toEqual([])
    })

    it("draws a bounded number of rows for 10,000 events", async () => {
      await using console = await openConsole(browser)
      const { page } = console
      await page.route("**/runs/*/events?*", (route) => route.fulfill({ json: { events: manyEvents, total: 10_000 } }))
      await page.reload()
      await console.goTo("activity")
      await page.getByText("5,000 calls").waitFor()
      const rows = page.locator(".calls li")
      expect(await rows.count()).toBeLessThan(60)
      expect(await rows.first().getAttribute("aria-setsize")).toBe("5000")
      await page.locator(".call-scroller").evaluate((scroller) => scroller.scrollTo(0, scroller.scrollHeight))
      await page.locator('.calls li[aria-posinset="5000"]').waitFor()
      expect(await rows.count()).toBeLessThan(60)
      await page.getByRole("searchbox", { name: "Search" }).fill("4321.txt")
      await page.getByText("1 call", { exact: true }).waitFor()
    })

    it("has no serious problem of accessibility on any screen, light or dark", async () => {
      await using console = await openConsole(browser, { "a.txt": "a\n" })
      const { page } = console
      await console.call("read_file", { path: "a.txt" })
      await console.call("read_file", { path: "missing.txt" })
      const command = String.raw`printf '\033[31mred\033[0m \033[30;42mgreen\033[0m'; cat`
      for (const [tool, params] of [
        ["open_terminal", { command }],
        ["run_command", { command: "seq 1 999" }]
      ] as const) {
        const reply = console.call(tool, params)
        await page.getByRole("heading", { name: tool }).waitFor()
        await page.getByRole("button", { name: "Approve", exact: true }).click()
        expect(await reply).toMatchObject({ ok: true })
      }
      void console.call("write_file", { path: "a.txt", content: "b\n" })
      await page.getByRole("heading", { name: /write_file/ }).waitFor()
      const found: Array<string> = []
      for (const screen of screens) {
        await console.goTo(screen)
        await page.locator(`main.${screen} h2`).first().waitFor({ state: "attached" })
        if (screen === "activity") await page.getByRole("link", { name: /Succeeded run_command/ }).click()
        if (screen === "terminals") await page.locator(".xterm-rows").getByText("green").waitFor()
        if (screen === "tools") await page.getByRole("link", { name: /^edit_file/ }).click()
        if (screen === "rules") await page.getByRole("button", { name: "Add a rule" }).click()
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme })
          found.push(...(await seriousProblems(page)).map((problem) => `${screen}, ${colorScheme}: ${problem}`))
          expect([screen, await page.locator("html").evaluate((html) => html.scrollHeight)]).toEqual([screen, 800])
        }
      }
      expect(found).toEqual([])
    }, 120_000)

    it("fits a phone: nothing is wider than the screen, and every screen can be reached", async () => {
      await using console = await openConsole(browser, { "a.txt": "a\n" }, { viewport: { width: 390, height: 800 } })
      const { page } = console
      void console.call("write_file", { path: "a.txt", content: `${"long ".repeat(100)}\n` })
      await page.getByRole("button", { name: "Approve", exact: true }).waitFor()
      void console.call("delete_path", { path: "a.txt" })
      const cards = page.locator(".approvals .card")
      await cards.nth(1).waitFor()
      const widths = await cards.evaluateAll((all) => all.map(({ clientWidth }) => clientWidth))
      expect(Math.min(...widths)).toBeGreaterThan(390 / 2)
      const navigation = page.getByRole("navigation")
      expect(await navigation.evaluate((links) => links.scrollWidth - links.clientWidth)).toBe(0)
      for (const screen of screens) {
        await console.goTo(screen)
        await page.locator(`main.${screen}`).waitFor()
        expect([screen, await page.locator("html").evaluate((html) => html.scrollWidth)]).toEqual([screen, 390])
      }
    })

    it("tells a browser without a session how to get one, also when it comes by a link that was used", async () => {
      await using console = await openConsole(browser)
      const { context, page } = console
      const { origin } = new URL(page.url())
      await page.goto(`${origin}/login?code=used`)
      await page.getByText("Live", { exact: true }).waitFor()
      await context.clearCookies()
      await page.goto(`${origin}/login?code=used`)
      await page.getByText("This browser is not signed in").waitFor()
    })
  }
)

/** In the page: a browser that allows notifications, and a person who looks elsewhere. */
const notificationsAreAllowed = (throws: boolean): void => {
  const told: Array<string> = []
  class TestNotification extends EventTarget {
    static readonly permission = "granted"
    constructor(title: string, { body }: { readonly body: string }) {
      super()
      if (throws) throw new TypeError("Illegal constructor")
      told.push(`${title}: ${body}`)
    }
  }
  Object.assign(globalThis, { Notification: TestNotification, told })
  Object.assign(Reflect.get(globalThis, "document") as object, { hasFocus: () => false })
}

const manyEvents = Array.from({ length: 5_000 }, (_, index) => {
  const shared = { step: index + 1, request_id: `many-${index + 1}`, tool: "read_file" }
  const at = new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString()
  return [
    { ...shared, type: "tool_call_started", seq: index * 2 + 1, at, dialect: "haft", params: { path: `${index}.txt` } },
    { ...shared, type: "tool_call_finished", seq: index * 2 + 2, at, status: "success", duration_sec: 0.001 }
  ]
}).flat()
