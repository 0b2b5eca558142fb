import axe, { type AxeResults } from "axe-core"
import type { Page } from "playwright-core"

/** Violations that axe rates serious or worse. */
export const seriousProblems = async (page: Page): Promise<ReadonlyArray<string>> => {
  // Evaluated instead of added as a script, which the page's content security policy would refuse.
  await page.evaluate(axe.source)
  const { violations } = (await page.evaluate("axe.run()")) as AxeResults
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} at ${target.join(" ")}: ${failureSummary}`)
    )
}
