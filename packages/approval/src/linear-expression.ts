import { RE2JS } from "re2js"

import { type PatternToken, readPattern } from "./read-pattern.ts"

/** What is wrong with an expression, in words. */
export class InvalidExpression extends Error {
  override readonly name = "InvalidExpression"
}

/** Whether something fits; `unknown` where finding out would take too long. */
export type Fit = "yes" | "no" | "unknown"

const maximumLength = 4096
/** Size of the compiled expression times length of the text: what was measured to stay below 50 ms at its worst. */
const maximumWork = 800_000

/** Compiles an expression in RE2's syntax that must match a whole text. Time grows with the text's length alone. */
export const linearExpression = (source: string): ((text: string) => Fit) => {
  if (source.length > maximumLength) throw tooLong()
  checkExpression(source)
  const { mayFit, fits } = linearMatcher(readPattern(source))
  return (text) => (mayFit(text) ? fits(text) : "no")
}

/** An expression in two steps, for those who have several and want the cheap steps first. */
export interface LinearMatcher {
  /** Looks at the plain text which the expression begins and ends with. */
  readonly mayFit: (text: string) => boolean
  /** The whole truth about a text that may fit. */
  readonly fits: (text: string) => Fit
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
  const mayFit = (text: string): boolean => text.length >= fixed && text.startsWith(start) && text.endsWith(end)
  let compiled: ((text: string) => Fit) | undefined
  const fits = (text: string): Fit => {
    compiled ??= wholeMatch(compile(tokens.map(({ source }) => source).join("")))
    return compiled(text)
  }
  return { mayFit, fits, fixed }
}

/** Like {@link linearExpression}, but a match anywhere in the text counts. */
export const linearSearch = (source: string): ((text: string) => Fit) => {
  if (source.length > maximumLength) throw tooLong()
  const expression = compile(source)
  return bounded(expression, (text) => expression.test(text))
}

const tooLong = () => new InvalidExpression(`the expression is longer than ${maximumLength} characters`)

const wholeMatch = (expression: RE2JS): ((text: string) => Fit) =>
  bounded(expression, (text) => expression.testExact(text))

const bounded = (expression: RE2JS, test: (text: string) => boolean): ((text: string) => Fit) => {
  const longest = Math.floor(maximumWork / expression.programSize())
  return (text) => (text.length > longest ? "unknown" : test(text) ? "yes" : "no")
}

const compile = (source: string): RE2JS => {
  try {
    return RE2JS.compile(source)
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause)
    throw new InvalidExpression(problem.replace(/^error parsing regexp: /, ""), { cause })
  }
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
