import type { ApprovalRequest } from "@haft/core"

import type { Rule } from "./rule.ts"

/** Why rules can't be used. A host that can't read its rules denies. */
export class RulesUnreadable extends Error {
  override readonly name = "RulesUnreadable"
}

export interface RuleMatch {
  readonly rule: Rule
  /** `unknown` where a rule that asks or denies may match, which can't be told for sure. */
  readonly fit: "yes" | "unknown"
  /** Further rules that allow together with this one, each a part of a compound command. */
  readonly along?: ReadonlyArray<Rule>
}

/** Rules that are ready to be tried on calls. */
export interface RuleSet {
  readonly rules: ReadonlyArray<Rule>
  /** The rules that hold for a call: all that ask or deny, and the first that allows. Throws what can't be judged. */
  readonly matches: (request: ApprovalRequest, at: MatchedAt) => ReadonlyArray<RuleMatch>
}

/** Where and when rules are tried. */
export interface MatchedAt {
  readonly workspace: string
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Tests for a part of a compound command that needs no rule, because nobody is asked about it anyway. */
  readonly isSpared?: (line: string) => boolean
}

export const noRules: RuleSet = { rules: [], matches: () => [] }
