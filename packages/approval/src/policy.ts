import type { ApprovalRequest, Risk, Verdict, VerdictBasis } from "@haft/core"

import {
  type ApprovalMode,
  decideByMode,
  sparesReading,
  type ModeLimits,
  type ModeSettings,
  standardModeLimits
} from "./modes.ts"
import type { RuleMatch, RuleSet } from "./rules/rule-set.ts"

/** The answer to calls that need approval: `ask` a person, `all` is a yes, `none` is a no. */
export type AnswerPolicy = "ask" | "all" | "none"

export interface PolicySettings {
  /** The rules, or why they can't be read. */
  readonly rules: RuleSet | { readonly unreadable: string }
  readonly answers: AnswerPolicy
  /** `ask` when absent. */
  readonly mode?: ApprovalMode
  readonly modeLimits?: ModeLimits
  /** Tells commands that only read from others, for modes that spare questions about them. None does when absent. */
  readonly onlyReads?: ModeSettings["onlyReads"]
  /** Risks that are asked about even where the contract does not. */
  readonly alsoAsk: ReadonlyArray<Risk>
  readonly workspace: string
  /** Milliseconds since the epoch. */
  readonly now: number
}

/**
 * Decides about a call without asking anybody. Rules that deny or ask and protected files always hold, and so does mode
 * `plan`; otherwise a rule that allows, or the mode, may spare the contract's question; otherwise the contract decides.
 * Unreadable rules deny everything.
 */
export const decide = (request: ApprovalRequest, settings: PolicySettings): Verdict => {
  const verdict = judge(request, settings)
  return verdict.decision === "ask" && settings.answers === "none"
    ? { ...verdict, decision: "deny", reason: `${verdict.reason}, and this host never asks` }
    : verdict
}

const judge = (request: ApprovalRequest, settings: PolicySettings): Verdict => {
  const { rules, answers, mode = "ask", modeLimits = standardModeLimits, onlyReads = () => false } = settings
  if ("unreadable" in rules) {
    return denied("error", `the approval rules can't be read, so nothing is allowed: ${rules.unreadable}`)
  }
  try {
    const { workspace, now } = settings
    const isSpared = sparesReading(mode, request) ? { isSpared: onlyReads } : {}
    const all = rules.matches(request, { workspace, now, ...isSpared })
    const matches = request.isEffects === true ? all.filter(({ rule }) => rule.touches?.writes !== undefined) : all
    const denying = matches.find(({ rule, fit }) => rule.decision === "deny" && fit === "yes")
    if (denying !== undefined) return byRule("deny", denying.rule.id, "forbids it", denying.rule.note)
    const byMode = decideByMode(mode, request, { limits: modeLimits, onlyReads })
    if (byMode.decision === "deny") return denied("mode", byMode.reason)
    const asking = matches.find(({ rule }) => rule.decision !== "allow")
    if (asking?.rule.decision === "ask") return byRule("ask", asking.rule.id, "wants to be asked", asking.rule.note)
    if (asking !== undefined) return byRule("ask", asking.rule.id, "may forbid it, which can't be told for sure")

    const allowing = matches.find(({ rule, fit }) => rule.decision === "allow" && fit === "yes")
    if (allowing !== undefined) return allowedBy(allowing)
    // Protected files are asked about in every dialect; anything else only where its contract wants that.
    const isProtected = request.facts.writes.some((written) => written.isProtected)
    const isAlsoAsked = request.isEffects !== true && settings.alsoAsk.includes(request.facts.risk)
    const { removedFiles = 0 } = request.facts
    const deletesMany = request.isEffects === true && removedFiles > modeLimits.deletedFiles
    if (!request.asks && !isProtected && !isAlsoAsked && !deletesMany) {
      return { decision: "allow", basis: "contract", reason: `${request.call.dialect} does not ask before this` }
    }
    if (byMode.decision === "allow" && !isAlsoAsked) return { ...byMode, basis: "mode" }
    if (answers === "all") return { decision: "allow", basis: "setting", reason: "this host approves everything" }
    const basis = isProtected ? "protected_path" : request.asks ? "contract" : "setting"
    const because = "because" in byMode && !isProtected ? ` (${byMode.because})` : ""
    return { decision: "ask", basis, reason: `${why(request)}${because}` }
  } catch (cause) {
    return denied("error", `the call can't be judged: ${cause instanceof Error ? cause.message : "bug"}`)
  }
}

const denied = (basis: VerdictBasis, reason: string): Verdict => ({ decision: "deny", basis, reason })

const allowedBy = ({ rule, along = [] }: RuleMatch): Verdict => {
  if (along.length === 0) return byRule("allow", rule.id, "allows it", rule.note)
  const ids = [rule, ...along].map(({ id }) => id)
  const reason = `rules ${ids.join(", ")} allow the parts of the command`
  return { decision: "allow", basis: "rule", rule: rule.id, reason }
}

const byRule = (decision: Verdict["decision"], rule: string, does: string, note?: string): Verdict => ({
  decision,
  basis: "rule",
  rule,
  reason: `rule ${rule} ${does}${note === undefined ? "" : ` (${note})`}`
})

const why = ({ call, facts, isEffects }: ApprovalRequest): string => {
  const protectedPath = facts.writes.find(({ isProtected }) => isProtected)
  const existing = facts.writes.filter(({ exists }) => exists)
  const { removedFiles = 0 } = facts
  if (protectedPath !== undefined) {
    return `${call.tool} changes ${protectedPath.protectedPath ?? protectedPath.path}, which other programs trust`
  }
  if (facts.runs !== undefined) return `${call.tool} runs a command${facts.network === true ? " with the network" : ""}`
  if (facts.connects !== undefined) return `a command connects to ${facts.connects}`
  if (facts.types !== undefined) return `${call.tool} types into a terminal`
  if (facts.fetches !== undefined) return `${call.tool} fetches from ${hostOf(facts.fetches)}`
  if (isEffects === true && removedFiles > 0) return `${call.tool} deleted ${removedFiles} files`
  if (existing.length > 0) return `${call.tool} changes what is already there`
  if (facts.writes.length > 0) return `${call.tool} writes new files`
  return `${call.tool} is ${facts.risk}`
}

const hostOf = (url: string): string => URL.parse(url)?.host ?? "an address that can't be read"
