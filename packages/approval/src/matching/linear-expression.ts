import { reasonOf } from "@haft/core"
import { RE2JS } from "re2js"

import { Effort, type Literal } from "./match-budget.ts"
import { alternativesOf, type PatternToken, readPattern } from "./read-pattern.ts"

/** Error message for an invalid expression. */
export class InvalidExpression extends Error {
  override readonly name = "InvalidExpression"
}

/** Result of a match; `unknown` where finding out would take too long. */
export type Fit = "yes" | "no" | "unknown"

/** Conjunction of conditions, evaluated lazily in order. */
export const allFit = <A>(conditions: ReadonlyArray<(value: A) => Fit>, value: A): Fit => {
  let fit: Fit = "yes"
  for (const condition of conditions) {
    const one = condition(value)
    if (one === "no") return "no"
    if (one === "unknown") fit = "unknown"
  }
  return fit
}

/** Disjunction of conditions, evaluated lazily in order. */
export const anyFits = <A>(values: Iterable<A>, test: (value: A) => Fit): Fit => {
  let fit: Fit = "no"
  for (const value of values) {
    const one = test(value)
    if (one === "yes") return "yes"
    if (one === "unknown") fit = "unknown"
  }
  return fit
}

/** Tries a text, at the cost of a decision's {@link Effort}. */
export type Test = (text: string, effort?: Effort) => Fit

const maximumLength = 4096

/** Compiles an expression in RE2's syntax that must match a whole text. Time grows with the text's length alone. */
export const linearExpression = (source: string): Test => {
  if (source.length > maximumLength) throw tooLong()
  checkExpression(source)
  return whole(linearMatcher(readPattern(source)))
}

/** Both steps of a matcher. */
export const whole =
  ({ mayFit, fits }: LinearMatcher): Test =>
  (text, effort = new Effort()) =>
    mayFit(text, effort) ? fits(text, effort) : "no"

/** An expression in two steps, for those who have several and want the cheap steps first. */
export interface LinearMatcher {
  /** Looks for the plain text which the expression spells out. */
  readonly mayFit: (text: string, effort: Effort) => boolean
  /** The whole truth about a text that may fit. */
  readonly fits: (text: string, effort: Effort) => Fit
  /** How many characters the first step looks at. */
  readonly fixed: number
}

/** Throws {@link InvalidExpression} unless the expression can be compiled. */
export const checkExpression = (source: string): void => void compile(source)

/**
 * Makes a matcher of an expression that has been read and checked. It is compiled when a text may fit for the first time:
 * of a thousand rules most never see such a text.
 */
export const linearMatcher = (tokens: ReadonlyArray<PatternToken>): LinearMatcher => {
  const { start, middle, end } = fixedEnds(tokens)
  const fixed = start.length + end.length
  if (middle.length === 0) return { mayFit: (text) => text === start, fits: () => "yes", fixed }
  const inside = spelledOut(middle)
  let compiled: RE2JS | undefined
  return {
    mayFit: (text, effort) =>
      text.length >= fixed && text.startsWith(start) && text.endsWith(end) && hasSome(text, inside, effort),
    fits: (text, effort) => {
      const expression = (compiled ??= compile(tokens.map(({ source }) => source).join("")))
      return afford(expression, text, effort) ? answer(expression.testExact(text)) : "unknown"
    },
    fixed
  }
}

/** Like {@link linearExpression}, but a match anywhere in the text counts. */
export const linearSearch = (source: string): Test => {
  if (source.length > maximumLength) throw tooLong()
  const expression = compile(source)
  const tokens = readPattern(source)
  const inside = spelledOut(tokens)
  const isPlain = tokens.every(({ kind }) => kind === "character")
  return (text, effort = new Effort()) => {
    const only = inside[0]?.[0]
    if (isPlain && only !== undefined) return effort.finds(text, only)
    if (!hasSome(text, inside, effort)) return "no"
    return afford(expression, text, effort) ? answer(expression.test(text)) : "unknown"
  }
}

const tooLong = () => new InvalidExpression(`the expression is longer than ${maximumLength} characters`)

const answer = (isFit: boolean): Fit => (isFit ? "yes" : "no")

const afford = (expression: RE2JS, text: string, effort: Effort): boolean =>
  effort.spend(expression.programSize() * text.length)

const hasSome = (text: string, alternatives: ReadonlyArray<ReadonlyArray<Literal>>, effort: Effort): boolean =>
  alternatives.some((literals) => literals.every((one) => effort.finds(text, one) !== "no"))

const compile = (source: string): RE2JS => {
  try {
    return RE2JS.compile(source)
  } catch (cause) {
    const problem = reasonOf(cause)
    throw new InvalidExpression(problem.replace(/^error parsing regexp: /, ""), { cause })
  }
}

/** For each alternative every piece of plain text that a match of it must contain, the longest first. */
const spelledOut = (tokens: ReadonlyArray<PatternToken>): ReadonlyArray<ReadonlyArray<Literal>> => {
  const isFolded = tokens[0]?.source === "(?i)"
  const rest = isFolded ? tokens.slice(1) : tokens
  if (rest.some(({ kind }) => kind === "flags")) return [[]]
  return alternativesOf(rest).map((alternative) => literalsOf(alternative, isFolded))
}

const literalsOf = (tokens: ReadonlyArray<PatternToken>, isFolded: boolean): ReadonlyArray<Literal> => {
  const runs = [""]
  let depth = 0
  for (const [place, token] of tokens.entries()) {
    if (token.kind === "open") depth += 1
    if (token.kind === "close") depth -= 1
    const isSure = token.kind === "character" && depth === 0 && tokens[place + 1]?.kind !== "repeat"
    // Beyond ASCII, which letters are the same is the engine's to say.
    if (isSure && !(isFolded && token.character > "\u007F")) runs[runs.length - 1] += token.character
    else runs.push("")
  }
  return runs
    .filter((run) => run !== "")
    .toSorted((one, other) => other.length - one.length)
    .map((text) => ({ text, isFolded }))
}

// The plain text at both ends. With alternatives or flags there may be none, so none is claimed.
const fixedEnds = (tokens: ReadonlyArray<PatternToken>) => {
  const isOpen = tokens.some(({ kind }) => kind === "flags" || kind === "alternative")
  if (isOpen) return { start: "", middle: tokens, end: "" }
  let from = 0
  while (tokens[from]?.kind === "character" && tokens[from + 1]?.kind !== "repeat") from += 1
  let to = tokens.length
  while (to > from && tokens[to - 1]?.kind === "character") to -= 1
  return { start: textOf(tokens.slice(0, from)), middle: tokens.slice(from, to), end: textOf(tokens.slice(to)) }
}

const textOf = (tokens: ReadonlyArray<PatternToken>): string =>
  tokens.map((token) => (token.kind === "character" ? token.character : "")).join("")
