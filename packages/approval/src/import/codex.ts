import type { Rule } from "../rules/rule.ts"
import { type Carried, carryOver, commandPrefix, commandRule, type ImportedRules } from "./imported-rules.ts"

export const isCodex = (text: string): boolean => /^\s*(?:prefix_rule|network_rule|host_executable)\s*\(/m.test(text)

const decisions: Readonly<Record<string, Rule["decision"]>> = { allow: "allow", prompt: "ask", forbidden: "deny" }

/** Rules from a `.rules` file of Codex: its `prefix_rule`s. */
export const importCodex = (text: string): ImportedRules => {
  const calls = callsIn(withoutComments(text))
  return carryOver(
    "codex",
    calls.flatMap(({ name, inner }) => {
      const setting = `${name}(${inner.replaceAll(/\s+/g, " ").trim()})`
      if (name !== "prefix_rule") return [{ setting, carried: `haft has nothing like ${name}` }]
      return prefixRules(inner).map((carried) => ({ setting, carried }))
    })
  )
}

/** One rule for each combination of the alternatives in a pattern. */
const prefixRules = (inner: string): ReadonlyArray<Carried> => {
  const pattern = listAfter(inner, "pattern")
  const written = /\bdecision\s*=\s*["'](\w+)["']/.exec(inner)?.[1] ?? "allow"
  const decision = decisions[written]
  if (decision === undefined) return [`there is no decision ${written}`]
  if (pattern === undefined || pattern.length === 0) return ["its pattern can't be read"]
  const lines = pattern.reduce<ReadonlyArray<string>>(
    (before, words) => before.flatMap((line) => words.map((word) => `${line} ${word}`)),
    [""]
  )
  return lines.map((line) =>
    pattern.flat().some((word) => /[\s*]/.test(word) || word === "")
      ? "a word with spaces or * can't be written in a rule"
      : commandRule(decision, commandPrefix(line))
  )
}

interface RuleCall {
  readonly name: string
  readonly inner: string
}

const callsIn = (text: string): ReadonlyArray<RuleCall> => {
  const found: Array<RuleCall> = []
  for (const { index, 0: whole, 1: name = "" } of text.matchAll(/\b(\w+_rule|host_executable)\s*\(/g)) {
    const start = index + whole.length
    found.push({ name, inner: text.slice(start, closingOf(text, start)) })
  }
  return found
}

/** Where the bracket closes that was opened before `start`; brackets in strings do not count. */
const closingOf = (text: string, start: number): number => {
  let depth = 1
  for (const { index, 0: token } of text.slice(start).matchAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[([{]|[)\]}]/gs)) {
    if (/^[([{]$/.test(token)) depth += 1
    if (/^[)\]}]$/.test(token)) depth -= 1
    if (depth === 0) return start + index
  }
  return text.length
}

/** The value of `name = […]`: words, or lists of alternatives. Undefined where it is anything else. */
const listAfter = (inner: string, name: string): ReadonlyArray<ReadonlyArray<string>> | undefined => {
  const begin = new RegExp(`\\b${name}\\s*=\\s*\\[`).exec(inner)
  if (begin === null) return undefined
  const start = begin.index + begin[0].length
  const json = `[${inner.slice(start, closingOf(inner, start))}]`
    .replaceAll(/'([^'"\\]*)'/g, '"$1"')
    .replaceAll(/,(\s*\])/g, "$1")
  try {
    const items: unknown = JSON.parse(json)
    if (!Array.isArray(items)) return undefined
    const words = items.map((item: unknown) => [item].flat())
    return words.every((alternatives) => alternatives.every((word) => typeof word === "string")) ? words : undefined
  } catch {
    return undefined
  }
}

const withoutComments = (text: string): string =>
  text.replaceAll(
    /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|#[^\n]*/g,
    (_whole, quoted: string | undefined) => quoted ?? ""
  )
