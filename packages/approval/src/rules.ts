import { isProtectedPath } from "@haft/core"

import { type CompiledRule, compileRule } from "./compile-rule.ts"
import { noRules, type RuleMatch, type RuleSet, RulesUnreadable } from "./rule-set.ts"
import { type Rule, RuleFile, rulesVersion } from "./rule.ts"
import { Screen } from "./screen.ts"
import { type Subject, subjectOf } from "./subject.ts"

/** Reads a rules file. Throws {@link RulesUnreadable} with the reason. */
export const parseRules = (content: string, before?: RuleSet): RuleSet => {
  const checked = RuleFile.safeParse(parseJson(content))
  if (checked.success) return compileRules(checked.data.rules, before)
  const [issue] = checked.error.issues
  throw new RulesUnreadable(`${issue?.path.join(".") || "the file"}: ${issue?.message ?? "not rules"}`)
}

export const printRules = (rules: ReadonlyArray<Rule>): string =>
  `${JSON.stringify({ version: rulesVersion, rules }, null, 2)}\n`

/**
 * Compiles rules and checks their examples; those of an earlier set are taken from there. Throws
 * {@link RulesUnreadable} with the reason.
 */
export const compileRules = (rules: ReadonlyArray<Rule>, before: RuleSet = noRules): RuleSet => {
  const known = compiledOf.get(before)
  const compiledNow = new Map<string, CompiledRule>()
  const byTool = new Map<string, Array<CompiledRule>>()
  const ids = new Set<string>()
  for (const rule of rules) {
    if (ids.has(rule.id)) throw new RulesUnreadable(`there are two rules ${rule.id}`)
    ids.add(rule.id)
    const text = JSON.stringify(rule)
    const compiled = known?.get(text) ?? compileRule(rule)
    compiledNow.set(text, compiled)
    const others = byTool.get(rule.tool)
    if (others === undefined) byTool.set(rule.tool, [compiled])
    else others.push(compiled)
  }
  const screens = new Map<string, Screen<Subject>>()
  for (const [tool, compiled] of byTool) screens.set(tool, new Screen(compiled.map(({ needs }) => needs)))
  const set: RuleSet = {
    rules,
    matches: (request, at) => {
      const { tool } = request.call
      const indexed = byTool.get(tool)
      if (indexed === undefined) return []
      const subject = subjectOf(request, at)
      try {
        const candidates = screens
          .get(tool)
          ?.candidates(subject)
          .flatMap((number) => indexed[number] ?? [])
        return matching(candidates ?? indexed, subject)
      } finally {
        subject.effort.done()
      }
    }
  }
  compiledOf.set(set, compiledNow)
  return set
}

const compiledOf = new WeakMap<RuleSet, ReadonlyMap<string, CompiledRule>>()

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
  for (const { path, isProtected } of facts.writes) if (isProtected && !namesProtected(names, path)) return false
  return facts.runs === undefined || command().words !== undefined
}

// A protected name must stand in the rule itself; a `**` that happens to cover it is not enough.
const namesProtected = (names: ReadonlyArray<string>, path: string): boolean => {
  const wanted = path.split("/").find(isProtectedPath)
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
