import type { RecordMetrics } from "../wire.ts"

export interface DecisionCount {
  readonly name: string
  readonly count: number
}

/** How many calls were allowed and denied, and by whom, in the words that people are shown. */
export const decisionCounts = (decisions: RecordMetrics["decisions"]): ReadonlyArray<DecisionCount> =>
  Object.entries(decisionNames).map(([key, name]) => ({
    name,
    count: decisions
      .filter(({ decision, by }) => key === (by === "nobody" ? by : `${decision} by ${by}`))
      .reduce((sum, { count }) => sum + count, 0)
  }))

const decisionNames: Readonly<Record<string, string>> = {
  "allow by policy": "Allowed by policy",
  "allow by person": "Approved by a person",
  "deny by policy": "Denied by policy",
  "deny by person": "Denied by a person",
  nobody: "Timed out"
}
