import type { ApprovalRequest, Risk, Verdict } from "@haft/core"

import type { RuleMatch, RuleSet } from "./rules/rule-set.ts"

/** How a host answers where the contract wants a person. */
export type ApprovalMode = "ask" | "all" | "none"

export interface PolicySettings {
  /** The rules, or why they can't be read. */
  readonly rules: RuleSet | { readonly unreadable: string }
  readonly mode: ApprovalMode
  /** Risks that are asked about even where the contract does not. */
  readonly alsoAsk: ReadonlyArray<Risk>
  readonly workspace: string
  /** Milliseconds since the epoch. */
  readonly now: number
}

/**
 * Decides about a call without asking anybody. Rules that deny or ask and protected files always hold; otherwise a rule
 * that allows, or the mode, may spare the contract's question; otherwise the contract decides. What can't be read is denied.
 */
export const decide = (request: ApprovalRequest, settings: PolicySettings): Verdict => {
  const verdict = judge(request, settings)
  return verdict.decision === "ask" && settings.mode === "none"
    ? { ...verdict, decision: "deny", reason: `${verdict.reason}, and this host never asks` }
    : verdict
}

const judge = (request: ApprovalRequest, settings: PolicySettings): Verdict => {
  const { rules, mode } = settings
  if ("unreadable" in rules) {
    return { decision: "deny", reason: `the approval rules can't be read, so nothing is allowed: ${rules.unreadable}` }
  }
  try {
    const all = rules.matches(request, settings)
    const matches = request.isEffects === true ? all.filter(({ rule }) => rule.touches?.writes !== undefined) : all
    const denying = matches.find(({ rule, fit }) => rule.decision === "deny" && fit === "yes")
    if (denying !== undefined) return byRule("deny", denying.rule.id, "forbids it", denying.rule.note)
    const asking = matches.find(({ rule }) => rule.decision !== "allow")
    if (asking?.rule.decision === "ask") return byRule("ask", asking.rule.id, "wants to be asked", asking.rule.note)
    if (asking !== undefined) return byRule("ask", asking.rule.id, "may forbid it, which can't be told for sure")

    const allowing = matches.find(({ rule, fit }) => rule.decision === "allow" && fit === "yes")
    if (allowing !== undefined) return allowedBy(allowing)
    // Protected files are asked about in every dialect; anything else only where its contract wants that.
    if (
      !request.asks &&
      !request.facts.writes.some(({ isProtected }) => isProtected) &&
      (request.isEffects === true || !settings.alsoAsk.includes(request.facts.risk))
    ) {
      return { decision: "allow", reason: `${request.call.dialect} does not ask before this` }
    }
    if (mode === "all") return { decision: "allow", reason: "this host approves everything" }
    return { decision: "ask", reason: why(request) }
  } catch (cause) {
    return { decision: "deny", reason: `the call can't be judged: ${cause instanceof Error ? cause.message : "bug"}` }
  }
}

const allowedBy = ({ rule, along = [] }: RuleMatch): Verdict => {
  if (along.length === 0) return byRule("allow", rule.id, "allows it", rule.note)
  const ids = [rule, ...along].map(({ id }) => id)
  return { decision: "allow", rule: rule.id, reason: `rules ${ids.join(", ")} allow the parts of the command` }
}

const byRule = (decision: Verdict["decision"], rule: string, does: string, note?: string): Verdict => ({
  decision,
  rule,
  reason: `rule ${rule} ${does}${note === undefined ? "" : ` (${note})`}`
})

const why = ({ call, facts }: ApprovalRequest): string => {
  const protectedPath = facts.writes.find(({ isProtected }) => isProtected)
  const existing = facts.writes.filter(({ exists }) => exists)
  if (protectedPath !== undefined) {
    return `${call.tool} changes ${protectedPath.protectedPath ?? protectedPath.path}, which other programs trust`
  }
  if (facts.runs !== undefined) return `${call.tool} runs a command${facts.network === true ? " with the network" : ""}`
  if (facts.types !== undefined) return `${call.tool} types into a terminal`
  if (facts.fetches !== undefined) return `${call.tool} fetches from ${hostOf(facts.fetches)}`
  if (existing.length > 0) return `${call.tool} changes what is already there`
  if (facts.writes.length > 0) return `${call.tool} writes new files`
  return `${call.tool} is ${facts.risk}`
}

const hostOf = (url: string): string => URL.parse(url)?.host ?? "an address that can't be read"
