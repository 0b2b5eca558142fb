import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { hasBrowser, launchBrowser, openConsole } from "./open-console.ts"

describe.skipIf(!hasBrowser)("the console and approval", () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser.close())

  it("changes the mode of a workspace, and follows changes of others", async () => {
    await using console = await openConsole(browser, { "a.txt": "1\n" })
    const { page } = console
    const mode = page.getByLabel("Mode")
    await expect.poll(() => mode.inputValue()).toBe("ask")
    await mode.selectOption("accept-edits")
    await expect.poll(() => console.asApprover("mode")).toEqual({ mode: "accept-edits" })
    expect(await console.call("write_file", { path: "b.txt", content: "b" })).toMatchObject({ ok: true })
    await console.asApprover("mode", { mode: "plan" }, "PUT")
    await expect.poll(() => mode.inputValue()).toBe("plan")
    expect(await console.call("write_file", { path: "c.txt", content: "c" })).toMatchObject({ ok: false })
    await console.goTo("activity")
    await page.getByText("c.txt").first().click()
    await page.getByText("the mode of the workspace").waitFor()
  })

  it("allows a directory for a day's work, with the rule and the calls it would have allowed shown first", async () => {
    await using console = await openConsole(browser, { "src/a.txt": "1\n" })
    const { page } = console
    const denied = console.call("write_file", { path: "src/old.txt", content: "1\n" })
    await page.getByRole("button", { name: "Deny", exact: true }).click()
    await denied
    const first = console.call("write_file", { path: "src/a.txt", content: "2\n" })
    await page.getByRole("button", { name: "Always allow" }).click()
    await page.getByLabel("changes below src").check()
    await page.getByText("writes src/**").waitFor()
    await page
      .getByText("Of the 1 call of this run, it would have allowed 1 that were asked about or denied.")
      .waitFor()
    await page.getByLabel("Expires").selectOption("In 8 hours")
    await page.getByRole("button", { name: "Approve and store the rule" }).click()
    expect(await first).toMatchObject({ ok: true })
    expect(await console.call("write_file", { path: "src/b.txt", content: "b" })).toMatchObject({ ok: true })
    const { rules } = (await console.asApprover("rules")) as { rules: ReadonlyArray<object> }
    expect(rules).toMatchObject([{ tool: "write_file", touches: { writes: "src/**" } }])
    const { expires = "" } = rules[0] as { expires?: string }
    expect(Math.abs(Date.parse(expires) - Date.now() - 8 * 3_600_000)).toBeLessThan(600_000)
  })

  it("says how severe a request is and why, why it is asked, and why no rule can be stored", async () => {
    await using console = await openConsole(browser, { ".vscode/settings.json": "{}\n" })
    const { page } = console
    const first = console.call("write_file", { path: ".vscode/settings.json", content: "{ }\n" })
    await page.getByRole("heading", { name: /Critical risk/ }).waitFor()
    await page
      .getByText(/Asked because write_file changes \.vscode\/settings\.json, which other programs trust/)
      .waitFor()
    await page.getByRole("button", { name: "Deny", exact: true }).click()
    await first
    const second = console.call("run_command", { command: "sh -c true" })
    await page.getByText(/No rule can be stored for this: sh is an interpreter/).waitFor()
    await page.getByRole("button", { name: "Deny", exact: true }).click()
    await second
  })

  it("tells the agent what the approver says with a yes, and keeps the approved diff", async () => {
    await using console = await openConsole(browser, { "a.txt": "1\n" })
    const { page } = console
    const reply = console.call("write_file", { path: "a.txt", content: "2\n" })
    await page.getByRole("button", { name: "Deny with feedback" }).click()
    await page.getByLabel("Message to the agent").fill("run the tests next")
    await page.getByRole("button", { name: "Approve with this message" }).click()
    expect(await reply).toMatchObject({ ok: true, adjusted: ["the approver's comment: run the tests next"] })
    await console.goTo("activity")
    await page.getByText("a.txt").first().click()
    await page.getByRole("heading", { name: "The change that was approved" }).waitFor()
  })
})
