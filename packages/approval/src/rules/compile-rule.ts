import { reasonOf } from "@haft/core"

import { argumentPattern } from "../matching/argument-pattern.ts"
import { pathGlob } from "../matching/glob.ts"
import { allFit, anyFits, type Fit, linearExpression, linearSearch, type Test } from "../matching/linear-expression.ts"
import { touchMatcher } from "../matching/match-touches.ts"
import { isSameData } from "../matching/stable-json.ts"
import { fieldOf, type Subject, subjectOf, textsOf } from "../matching/subject.ts"
import { RulesUnreadable } from "./rule-set.ts"
import type { FieldCondition, Rule, RuleExample } from "./rule.ts"

/** A rule that is ready to be tried on calls. */
export interface CompiledRule {
  readonly rule: Rule
  /** Tests the conditions only: expired, disabled and used up rules match too. */
  readonly fits: (subject: Subject) => Fit
  /** Tests whether the rule is in force for this call: not expired, not disabled, this workspace and dialect. */
  readonly isInForce: (subject: Subject) => boolean
  /** Paths and texts that the rule spells out. */
  readonly names: ReadonlyArray<string>
}

/** Compiles one rule and checks its examples. Throws {@link RulesUnreadable} with the reason. */
export const compileRule = (rule: Rule): CompiledRule => {
  try {
    const compiled = compile(rule)
    checkExamples(compiled)
    return compiled
  } catch (cause) {
    throw new RulesUnreadable(`rule ${rule.id}: ${reasonOf(cause)}`, { cause })
  }
}

type Condition = (subject: Subject) => Fit

const compile = (rule: Rule): CompiledRule => {
  const isAllowing = rule.decision === "allow"
  const { tool, operation, touches, fields, pattern: expression, exactly: args, exactlySha256: hash } = rule
  if (isAllowing && [tool, operation, touches, fields, expression, args, hash].every((part) => part === undefined)) {
    throw new RulesUnreadable("it would allow everything; name a tool, an operation or what it touches")
  }
  const conditions: Array<Condition> = []
  const names: Array<string> = []
  if (rule.exactly !== undefined) {
    const { exactly } = rule
    conditions.push(({ input, pieces }) => {
      pieces() // throws for a value that JSON can't represent
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
  if (isAllowing && rule.fields !== undefined) conditions.push(othersAreDefault(Object.keys(rule.fields)))
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
    return ({ input, pieces }) => {
      pieces() // throws for a value that JSON can't represent
      return isSameData(fieldOf(input, field), equals) ? "yes" : "no"
    }
  }
  const test = "glob" in condition ? globTest(condition.glob) : linearExpression(condition.expression)
  return ({ input, pieces, effort }) => {
    pieces()
    const value = fieldOf(input, field)
    return typeof value === "string" ? test(value, effort) : "no"
  }
}

/** That fields which a rule does not name have their defaults. Required ones have none: every call brings its own. */
const othersAreDefault =
  (named: ReadonlyArray<string>): Condition =>
  ({ input, defaults }) => {
    const known = defaults()
    return Object.entries(input).every(([field, value]) => isDefault(named, field, value, known)) ? "yes" : "no"
  }

const isDefault = (
  named: ReadonlyArray<string>,
  field: string,
  value: unknown,
  defaults: Readonly<Record<string, unknown>> | undefined
): boolean => {
  if (named.includes(field) || value === undefined) return true
  const inside = named.flatMap((name) => (name.startsWith(`${field}.`) ? [name.slice(field.length + 1)] : []))
  if (inside.length > 0 && typeof value === "object" && value !== null) {
    const inner = defaults?.[field]
    const known = typeof inner === "object" && inner !== null ? (inner as Readonly<Record<string, unknown>>) : undefined
    return Object.entries(value).every(([name, part]) => isDefault(inside, name, part, known))
  }
  if (defaults === undefined) return false
  return !Object.hasOwn(defaults, field) || isSameData(value, defaults[field])
}

// A field is the caller's own text: one that climbs up may end anywhere, so no glob holds for it.
const globTest = (glob: string): Test => {
  const test = pathGlob(glob)
  return (text) => (!/(?:^|[/\\])\.\.(?:[/\\]|$)/.test(text) && test(text) ? "yes" : "no")
}

/** For rules that ask or deny: one text of a list is enough, and a path is found however it is spelled. */
const fieldFinder = (field: string, condition: FieldCondition): Condition => {
  if ("equals" in condition) return fieldMatcher(field, condition)
  if ("expression" in condition) {
    const test = linearExpression(condition.expression)
    return ({ input, pieces, effort }) => {
      pieces()
      return anyFits(textsOf(input, field), (text) => test(text, effort))
    }
  }
  const test = pathGlob(condition.glob)
  return ({ input, spellings }) => anyFits(textsOf(input, field), (text) => (spellings(text).some(test) ? "yes" : "no"))
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
        call: { id: "example", step: 0, tool: rule.tool ?? "any", dialect: rule.dialect ?? "any", startedAt: 0 },
        input: example.arguments,
        asks: true,
        facts: {
          reads: example.reads ?? [],
          writes: (example.writes ?? []).map((path) => ({ path, exists: false, isProtected: false })),
          ...(example.fetches !== undefined && { fetches: example.fetches }),
          ...(example.connects !== undefined && { connects: example.connects }),
          ...(example.runs !== undefined && { runs: example.runs }),
          ...(example.network !== undefined && { network: example.network }),
          risk: "dangerous"
        }
      },
      { workspace: rule.workspace ?? "/", now: 0 }
    )
  )
