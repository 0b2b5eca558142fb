import axe, { type AxeResults } from "axe-core"
import type { Page } from "playwright-core"

/** What axe calls serious or worse. */
export const seriousProblems = async (page: Page): Promise<ReadonlyArray<string>> => {
  // Evaluated by the debugger, because the page's own policy lets no foreign script in.
  await page.evaluate(axe.source)
  const { violations } = (await page.evaluate("axe.run()")) as AxeResults
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} at ${target.join(" ")}: ${failureSummary}`)
    )
}
