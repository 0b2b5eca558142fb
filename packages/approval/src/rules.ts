import { createHash } from "node:crypto"
import { posix } from "node:path"

import { type ApprovalRequest, isProtectedPath } from "@haft/core"

import { argumentPattern, markQuotes, type PatternSubject } from "./argument-pattern.ts"
import { Effort } from "./effort.ts"
import { pathGlob } from "./glob.ts"
import { allFit, anyFits, type Fit, linearExpression, linearSearch, type Test } from "./linear-expression.ts"
import { noRules, type RuleMatch, type RuleSet, RulesUnreadable } from "./rule-set.ts"
import { type FieldCondition, type Rule, type RuleExample, RuleFile, rulesVersion } from "./rule.ts"
import { type ReadCommand, readCommand } from "./shell-words.ts"
import { isSameData, jsonPieces } from "./stable-json.ts"
import { touchMatcher } from "./touch-conditions.ts"

/** A call as rules see it. What is costly is worked out once, and only when a rule needs it. */
export interface Subject extends Pick<ApprovalRequest, "input" | "facts">, PatternSubject {
  readonly tool: string
  readonly dialect: string
  readonly workspace: string
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly json: () => string
  /** The ways in which a path that the caller wrote can be meant: as it is, without detours, from the workspace. */
  readonly spellings: (path: string) => ReadonlyArray<string>
  readonly sha256: () => string
  readonly command: () => ReadCommand
}

/** A rule that is ready to be tried on calls. */
export interface CompiledRule {
  readonly rule: Rule
  /** Whether its conditions match, whatever its state: expired, disabled and used up rules match too. */
  readonly fits: (subject: Subject) => Fit
  /** Whether it can hold for this call at all: not over, not disabled, this workspace and dialect. */
  readonly isInForce: (subject: Subject) => boolean
  /** Paths and texts that the rule spells out. */
  readonly names: ReadonlyArray<string>
}

export const subjectOf = (
  request: ApprovalRequest,
  at: { readonly workspace: string; readonly now: number }
): Subject => {
  const { input, facts } = request
  const pieces = once(() => jsonPieces(input))
  const json = once(() => pieces().whole())
  return {
    input,
    facts,
    tool: request.call.tool,
    dialect: request.call.dialect,
    ...at,
    effort: new Effort(),
    pieces,
    json,
    spellings: remembering((path) => {
      const plain = posix.normalize(path.replaceAll("\\", "/"))
      return [...new Set([path, plain, posix.relative(at.workspace, posix.resolve(at.workspace, plain))])]
    }),
    marked: once(() => markQuotes(pieces())),
    sha256: once(() => sha256(json())),
    command: once(() => readCommand(facts.runs ?? ""))
  }
}

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
  const set: RuleSet = {
    rules,
    matches: (request, at) => {
      const indexed = byTool.get(request.call.tool)
      if (indexed === undefined) return []
      const subject = subjectOf(request, at)
      try {
        return matching(indexed, subject)
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

/** Compiles one rule and checks its examples. Throws {@link RulesUnreadable} with the reason. */
export const compileRule = (rule: Rule): CompiledRule => {
  try {
    const compiled = compile(rule)
    checkExamples(compiled)
    return compiled
  } catch (cause) {
    throw new RulesUnreadable(`rule ${rule.id}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

type Condition = (subject: Subject) => Fit

const compile = (rule: Rule): CompiledRule => {
  const isAllowing = rule.decision === "allow"
  const conditions: Array<Condition> = []
  const names: Array<string> = []
  if (rule.exactly !== undefined) {
    const { exactly } = rule
    conditions.push(({ input, pieces }) => {
      pieces() // throws what no JSON can say
      return isSameData(input, exactly) ? "yes" : "no"
    })
    names.push(...textsIn(exactly))
  }
  if (rule.exactlySha256 !== undefined) {
    const { exactlySha256 } = rule
    conditions.push(({ sha256 }) => (sha256() === exactlySha256 ? "yes" : "no"))
  }
  for (const [field, condition] of Object.entries(rule.fields ?? {})) {
    conditions.push(isAllowing ? fieldMatcher(field, condition) : fieldFinder(field, condition))
    if ("equals" in condition) names.push(...textsIn(condition.equals))
    if ("glob" in condition) names.push(condition.glob)
  }
  if (rule.touches !== undefined) {
    const { covers, hits } = touchMatcher(rule.touches)
    conditions.push(isAllowing ? covers : hits)
    names.push(...[rule.touches.writes ?? []].flat())
  }
  if (rule.pattern !== undefined) {
    // Hardening narrows what matches. That is safe for a rule that allows; one that forbids takes the plain reading.
    if (isAllowing) {
      const pattern = argumentPattern(rule.pattern)
      conditions.push(pattern.matches)
      names.push(...pattern.names)
    } else {
      const search = linearSearch(rule.pattern)
      conditions.push(({ json, effort }) => search(json(), effort))
    }
  }
  const expires = rule.expires === undefined ? Number.POSITIVE_INFINITY : Date.parse(rule.expires)
  return {
    rule,
    names,
    fits: (subject) => allFit(conditions, subject),
    isInForce: ({ workspace, dialect, now }) =>
      rule.enabled &&
      now < expires &&
      rule.uses < (rule.maximumUses ?? Number.POSITIVE_INFINITY) &&
      (rule.workspace === undefined || rule.workspace === workspace) &&
      (rule.dialect === undefined || rule.dialect === dialect)
  }
}

const fieldMatcher = (field: string, condition: FieldCondition): Condition => {
  if ("equals" in condition) {
    const { equals } = condition
    return ({ input }) => (isSameData(fieldOf(input, field), equals) ? "yes" : "no")
  }
  const test = "glob" in condition ? globTest(condition.glob) : linearExpression(condition.expression)
  return ({ input, effort }) => {
    const value = fieldOf(input, field)
    return typeof value === "string" ? test(value, effort) : "no"
  }
}

// A field is the caller's own text: one that climbs up may end anywhere, so no glob holds for it.
const globTest = (glob: string): Test => {
  const test = pathGlob(glob)
  return (text) => (!/(?:^|[/\\])\.\.(?:[/\\]|$)/.test(text) && test(text) ? "yes" : "no")
}

/** For rules that ask or deny: one text of a list is enough, and a path is found however it is spelled. */
const fieldFinder = (field: string, condition: FieldCondition): Condition => {
  if ("equals" in condition) return fieldMatcher(field, condition)
  const textsOf = (input: unknown) => [fieldOf(input, field)].flat().filter((value) => typeof value === "string")
  if ("expression" in condition) {
    const test = linearExpression(condition.expression)
    return ({ input, effort }) => anyFits(textsOf(input), (text) => test(text, effort))
  }
  const test = pathGlob(condition.glob)
  return ({ input, spellings }) => anyFits(textsOf(input), (text) => (spellings(text).some(test) ? "yes" : "no"))
}

const fieldOf = (input: unknown, field: string): unknown => {
  if (typeof input !== "object" || input === null) return undefined
  if (Object.hasOwn(input, field)) return (input as Readonly<Record<string, unknown>>)[field]
  const dot = field.indexOf(".")
  return dot < 0 ? undefined : fieldOf(fieldOf(input, field.slice(0, dot)), field.slice(dot + 1))
}

const textsIn = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return value.length < 1000 ? [value] : []
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : []
}

const checkExamples = (compiled: CompiledRule): void => {
  const { match = [], noMatch = [] } = compiled.rule.examples ?? {}
  for (const example of match) {
    if (fitsExample(compiled, example) !== "yes") {
      throw new RulesUnreadable(`it does not match its example ${JSON.stringify(example)}`)
    }
  }
  for (const example of noMatch) {
    if (fitsExample(compiled, example) !== "no") {
      throw new RulesUnreadable(`it matches ${JSON.stringify(example)}, which it must not`)
    }
  }
}

const fitsExample = ({ rule, fits }: CompiledRule, example: RuleExample): Fit =>
  fits(
    subjectOf(
      {
        call: { id: "example", step: 0, tool: rule.tool, dialect: rule.dialect ?? "any", startedAt: 0 },
        input: example.arguments,
        asks: true,
        facts: {
          reads: example.reads ?? [],
          writes: (example.writes ?? []).map((path) => ({ path, exists: false, isProtected: false })),
          ...(example.fetches !== undefined && { fetches: example.fetches }),
          ...(example.runs !== undefined && { runs: example.runs }),
          risk: "dangerous"
        }
      },
      { workspace: rule.workspace ?? "/", now: 0 }
    )
  )

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

const once = <A>(make: () => A): (() => A) => {
  let made: { readonly value: A } | undefined
  return () => (made ??= { value: make() }).value
}

const remembering = <A>(make: (key: string) => A): ((key: string) => A) => {
  const made = new Map<string, A>()
  return (key) => {
    const known = made.get(key)
    if (known !== undefined) return known
    const value = make(key)
    made.set(key, value)
    return value
  }
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")
