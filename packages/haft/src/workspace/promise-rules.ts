import type { Rule, Simulation } from "@haft/approval"
import * as Effect from "effect/Effect"

import type { RecordToTest, Rules } from "./rules.ts"

/** The approval rules of a workspace, without a host, for Promise users. */
export interface PromiseRules {
  readonly list: () => Promise<ReadonlyArray<Rule>>
  /** Adds a rule. One that is malformed, or fails its own examples, is refused. */
  readonly add: (rule: unknown) => Promise<Rule>
  /** Puts a rule in the place of another, in one step. False when there is no such rule. */
  readonly replace: (id: string, rule: unknown) => Promise<boolean>
  readonly remove: (id: string) => Promise<boolean>
  readonly setEnabled: (id: string, enabled: boolean) => Promise<boolean>
  /** Replays the calls of a record against these rules, or those proposed in a file like `rules.json`. */
  readonly test: (record: RecordToTest) => Promise<Simulation>
}

/** Rules whose methods return Promises. */
export const promiseRules = (rules: Rules): PromiseRules => ({
  list: () => Effect.runPromise(rules.list),
  add: (rule) => Effect.runPromise(rules.add(rule)),
  replace: (id, rule) => Effect.runPromise(rules.replace(id, rule)),
  remove: (id) => Effect.runPromise(rules.remove(id)),
  setEnabled: (id, enabled) => Effect.runPromise(rules.setEnabled(id, enabled)),
  test: (record) => Effect.runPromise(rules.test(record))
})
