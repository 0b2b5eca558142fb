import { type ApprovalRequest, type Call } from "@haft/core"
import { controlFileAt, plainIssues } from "@haft/core/internal"

import { readCommand } from "../matching/parse-command.ts"
import { type Subject, subjectOf } from "../matching/subject.ts"
import { type CompiledRule, compileRule } from "./compile-rule.ts"
import { type MatchedAt, type RuleMatch, type RuleSet, RulesUnreadable } from "./rule-set.ts"
import { type Rule, RuleFile, rulesVersion } from "./rule.ts"

/** Reads a rules file. Throws {@link RulesUnreadable} with the reason. */
export const parseRules = (content: string): RuleSet => compileRules(readRules(content))

/** Parsed rules file, not compiled yet: rules that were known before are the same objects again. */
export const readRules = (content: string, before: ReadonlyArray<Rule> = []): ReadonlyArray<Rule> => {
  const checked = RuleFile.safeParse(parseJson(content))
  if (!checked.success) {
    const [issue] = plainIssues(checked.error)
    throw new RulesUnreadable(`${issue?.path.join(".") || "the file"}: ${issue?.message ?? "not rules"}`)
  }
  const known = new Map(before.map((rule) => [rule.id, rule]))
  return checked.data.rules.map((rule) => {
    const earlier = known.get(rule.id)
    return earlier !== undefined && JSON.stringify(earlier) === JSON.stringify(rule) ? earlier : rule
  })
}

// One by one: in the making of one large text V8 leaves twice its size behind, and is slow to collect that.
export const printRules = (rules: ReadonlyArray<Rule>): string => {
  if (rules.length === 0) return `${JSON.stringify({ version: rulesVersion, rules }, null, 2)}\n`
  const printed = rules.map((rule) => JSON.stringify(rule, null, 2).replaceAll(/^/gm, "    "))
  return `{\n  "version": ${rulesVersion},\n  "rules": [\n${printed.join(",\n")}\n  ]\n}\n`
}

/** Compiles rules and checks their examples. Throws {@link RulesUnreadable} with the reason. */
export const compileRules = (rules: ReadonlyArray<Rule>): RuleSet => {
  const compiling = compileOneByOne(rules, new WeakMap())
  for (;;) {
    const step = compiling.next()
    if (step.done === true) return step.value
  }
}

/** Rules that have been compiled, for a keeper of rules that never changes one in place. */
export type KnownRules = WeakMap<Rule, CompiledRule>

/** Compiles rules and yields after each: ten thousand of them take a second in which other calls have to run. */
export function* compileOneByOne(rules: ReadonlyArray<Rule>, known: KnownRules): Generator<void, RuleSet> {
  checkIds(rules)
  const all: Array<CompiledRule> = []
  for (const rule of rules) {
    const compiled = known.get(rule) ?? compileRule(rule)
    known.set(rule, compiled)
    all.push(compiled)
    yield
  }
  // By tool and operation, as many as the host has.
  const applicable = new Map<string, ReadonlyArray<CompiledRule>>()
  const rulesFor = ({ tool, operation = tool }: Call): ReadonlyArray<CompiledRule> => {
    const key = JSON.stringify([tool, operation])
    const found = applicable.get(key) ?? all.filter(({ rule }) => appliesTo(rule, tool, operation))
    applicable.set(key, found)
    return found
  }
  return {
    rules,
    matches: (request, at) => {
      const own = rulesFor(request.call)
      if (own.length === 0) return []
      const matches = matching(own, subjectOf(request, at))
      if (matches.some(({ rule }) => rule.decision === "allow")) return matches
      return [...matches, ...allowingParts(own, request, at)]
    }
  }
}

const appliesTo = (rule: Rule, tool: string, operation: string): boolean =>
  (rule.tool === undefined || rule.tool === tool) &&
  (rule.operation === undefined || [rule.operation].flat().includes(operation))

/** The rules that allow a compound command part by part. None unless every part is allowed, or spared anyway. */
const allowingParts = (
  rules: ReadonlyArray<CompiledRule>,
  request: ApprovalRequest,
  at: MatchedAt
): ReadonlyArray<RuleMatch> => {
  if (request.facts.runs === undefined) return []
  const allowing = rules.filter(({ rule }) => isAboutCommands(rule))
  const parts = allowing.length === 0 ? undefined : readCommand(request.facts.runs).parts
  if (parts === undefined) return []
  const rest = parts.filter(({ line }) => at.isSpared?.(line) !== true)
  const found = rest.map(({ line }) => {
    const part = subjectOf({ ...request, facts: { ...request.facts, runs: line } }, at)
    return matching(allowing, part)[0]?.rule
  })
  const [rule, ...along] = new Set(found)
  return rule === undefined || found.includes(undefined)
    ? []
    : [{ rule, fit: "yes", along: along.filter((other) => other !== undefined) }]
}

// The other conditions are about the call's arguments, which have the command line as a whole. How often a rule was used
// is counted by call, not by part.
const isAboutCommands = (rule: Rule): boolean =>
  rule.decision === "allow" &&
  rule.touches?.runs !== undefined &&
  rule.maximumUses === undefined &&
  [rule.fields, rule.pattern, rule.exactly, rule.exactlySha256].every((part) => part === undefined)

const checkIds = (rules: ReadonlyArray<Rule>): void => {
  const ids = new Set<string>()
  for (const { id } of rules) if (ids.size === ids.add(id).size) throw new RulesUnreadable(`there are two rules ${id}`)
}

const matching = (rules: ReadonlyArray<CompiledRule>, subject: Subject): ReadonlyArray<RuleMatch> => {
  const matches: Array<RuleMatch> = []
  let isAllowed = false
  for (const compiled of rules) {
    const { rule } = compiled
    const isAllowing = rule.decision === "allow"
    if (isAllowing && isAllowed) continue
    const fit = compiled.fits(subject)
    if (fit === "no" || (isAllowing && fit !== "yes")) continue
    if (!compiled.isInForce(subject) || (isAllowing && !mayAllow(compiled, subject))) continue
    isAllowed ||= isAllowing
    matches.push({ rule, fit })
  }
  return matches
}

const mayAllow = ({ names }: CompiledRule, { facts, command }: Subject): boolean => {
  for (const { path, isProtected, protectedPath = path } of facts.writes) {
    if (isProtected && !namesProtected(names, protectedPath)) return false
  }
  return facts.runs === undefined || command().opaque === undefined
}

// A protected name must stand in the rule itself; a `**` that happens to cover it is not enough.
const namesProtected = (names: ReadonlyArray<string>, path: string): boolean => {
  const parts = path.split("/")
  const wanted = parts.find((_, index) => controlFileAt(parts.slice(0, index + 1)) !== undefined)
  return wanted !== undefined && names.some((name) => name.split("/").some((part) => folded(part) === folded(wanted)))
}

const folded = (name: string): string => name.normalize("NFC").toLowerCase()

const parseJson = (content: string): unknown => {
  let parsed: unknown
  try {
    parsed = JSON.parse(content)
  } catch (cause) {
    throw new RulesUnreadable("it is not JSON", { cause })
  }
  // JSON.parse keeps the last of two fields with one name, and a person may have read the first.
  if (keysWritten(content) !== keysIn(parsed)) throw new RulesUnreadable("it has the same field twice in one object")
  return parsed
}

const keysWritten = (json: string): number => {
  let count = 0
  for (const [, colon] of json.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/gs)) if (colon !== undefined) count += 1
  return count
}

const keysIn = (value: unknown): number => {
  if (typeof value !== "object" || value === null) return 0
  const inside = Object.values(value).reduce<number>((count, inner) => count + keysIn(inner), 0)
  return Array.isArray(value) ? inside : inside + Object.keys(value).length
}
