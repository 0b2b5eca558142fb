import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { hasBrowser, launchBrowser, openConsole } from "./open-console.ts"
import { seriousProblems } from "./serious-problems.ts"

const before = `/* A greeting,
   over two lines. */
export const greet = (name: string): string => {
  const times = 1
  return "hello " + name.repeat(times)
}
`
const after = before.replace("times = 1", "times = 2").replace('"hello "', '"good morning, "').replace("two", "three")

describe.skipIf(!hasBrowser)(
  `reading in the console${hasBrowser ? "" : ": skipped, /usr/bin/chromium is missing"}`,
  () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await launchBrowser()
    })
    afterAll(() => browser?.close())

    it("colors the syntax of diffs, with enough contrast in both themes and layouts", async () => {
      await using console = await openConsole(browser, { "src/greet.ts": before })
      const { page } = console
      const reply = console.call("write_file", { path: "src/greet.ts", content: after })
      await page.locator(".diff .token.keyword", { hasText: "const" }).first().waitFor()
      expect(await page.locator(".diff .token.comment").allInnerTexts()).toContain("/* A greeting,")
      expect(await page.locator(".diff mark").allInnerTexts()).toContain("2")
      // Colors change nothing about the text.
      const added = page.locator(".diff-text.after:not(.same, .nothing)")
      expect((await added.allInnerTexts()).map((text) => text.replace(/^added:\s*\n/, ""))).toEqual(
        after.split("\n").filter((line) => line !== "" && !before.includes(line))
      )
      for (const theme of ["light", "dark"]) {
        await page.getByLabel("Theme").selectOption(theme)
        for (const layout of ["split", "unified"]) {
          await page.getByLabel("Layout of diffs").selectOption(layout)
          expect(await seriousProblems(page)).toEqual([])
        }
      }
      await page.getByRole("button", { name: "Deny", exact: true }).click()
      await reply
      expect(console.complaints).toEqual([])
    })

    // A window of 1280 × 800 pixels at 200 %, and a phone.
    it.each([
      ["at 200 % zoom", { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }],
      ["on a phone", { viewport: { width: 360, height: 640 }, deviceScaleFactor: 3, isMobile: true, hasTouch: true }]
    ])("shows the first change and the answers %s, and no screen scrolls sideways", async (_, options) => {
      await using console = await openConsole(browser, { "src/greet.ts": before }, options)
      const { page } = console
      const reply = console.call("write_file", { path: "src/greet.ts", content: after })
      await page.locator("tr.is-changed").first().waitFor()
      await expect.poll(() => isDecidable(page)).toBe(true)
      expect(await overflow(page)).toBeLessThanOrEqual(0)
      for (const screen of ["activity", "review", "rules", "metrics", "overview", "approvals"]) {
        await page.goto(`${console.origin}/#/default/${screen}`)
        await page.locator(`main.${screen}`).waitFor()
        expect([screen, await overflow(page)]).toEqual([screen, expect.toSatisfy((pixels: number) => pixels <= 0)])
      }
      await console.pending().then(async ([one]) => console.asApprover(`approvals/${one!.id}`, { approved: false }))
      await reply
    })
  }
)

/** Tests whether the first change is in the window, above the answers, and those are in it too. */
const isDecidable = (page: Page): Promise<boolean> =>
  page.evaluate(`(() => {
    const change = document.querySelector("tr.is-changed").getBoundingClientRect()
    const answers = document.querySelector(".answers").getBoundingClientRect()
    const approve = document.querySelector(".answers > button.primary").getBoundingClientRect()
    const header = document.querySelector(".header").getBoundingClientRect()
    const isBelow = change.top >= Math.max(0, header.bottom)
    return isBelow && change.bottom <= answers.top && approve.bottom <= window.innerHeight
  })()`)

/** Pixels that the page is wider than its window. */
const overflow = (page: Page): Promise<number> =>
  page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
