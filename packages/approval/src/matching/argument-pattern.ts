import { RE2JS } from "re2js"

import {
  checkExpression,
  type Fit,
  InvalidExpression,
  type LinearMatcher,
  linearMatcher,
  whole
} from "./linear-expression.ts"
import type { Effort } from "./match-budget.ts"
import { alternativesOf, type PatternToken, readPattern } from "./read-pattern.ts"
import { type JsonPieces, reservedCharacter } from "./stable-json.ts"

/** An expression over serialized arguments, compiled so that a value can't imitate a key. */
export interface ArgumentPattern {
  readonly matches: (subject: PatternSubject) => Fit
  /** Strings that the pattern spells out in full. */
  readonly names: ReadonlyArray<string>
}

/** Serialized arguments, the whole of which is matched. */
export interface PatternSubject {
  readonly pieces: () => JsonPieces
  /** Pattern text with its quotes replaced by marks. */
  readonly marked: () => string
  readonly effort: Effort
}

// Stands for a quote that opens or closes a string. Nothing but a quote that is spelled out in the pattern can
// match it: `.` and every class are rewritten to leave it out. Serialized arguments never contain it otherwise.
const quote = reservedCharacter
const maximumLength = 4096

/**
 * Compiles a pattern such as `^{"path":".*\.txt"}$`. In its plain reading `.*` could run over the end of the
 * path into the next field; here a quote between fields is matched only by a quote in the pattern.
 */
export const argumentPattern = (source: string): ArgumentPattern => {
  if (source.length > maximumLength)
    throw new InvalidExpression(`the pattern is longer than ${maximumLength} characters`)
  const tokens = hardened(readPattern(source))
  checkExpression(tokens.map((token) => token.source).join(""))
  const variants = variantsOf(tokens)?.map(withoutAnchors)
  const segmented = variants?.map(cutAtQuotes)
  if (segmented === undefined || !segmented.every((segments) => segments !== undefined)) {
    const fits = whole(linearMatcher(tokens))
    return {
      names: [],
      matches: ({ marked, effort }) => fits(marked(), effort)
    }
  }
  const matchers = segmented.map((segments) => segmentsMatcher(segments))
  return {
    // Text that only one of several variants spells out is not spelled out by the pattern.
    names: matchers.length === 1 ? (matchers[0]?.names ?? []) : [],
    matches: ({ pieces, effort }) => {
      let fit: Fit = "no"
      for (const { matches } of matchers) {
        const one = matches(pieces(), effort)
        if (one === "yes") return "yes"
        if (one === "unknown") fit = "unknown"
      }
      return fit
    }
  }
}

/** The text that patterns are matched against: serialized arguments, their quotes replaced by marks. */
export const markQuotes = (pieces: JsonPieces): string => pieces.join(quote)

// Sets `.`, negated classes and quotes apart. Classes that would still match the quote are refused.
const hardened = (tokens: ReadonlyArray<PatternToken>): ReadonlyArray<PatternToken> => {
  let backslashes = 0
  return tokens.map((token) => {
    // In the text a value's own quote follows an odd number of backslashes, so it does in a pattern that means it.
    const isOwnQuote = token.kind === "character" && token.character === '"' && backslashes % 2 === 1
    backslashes = token.kind === "character" && token.character === "\\" ? backslashes + 1 : 0
    if (token.kind === "any") return { ...token, source: `[^${quote}]` }
    if (token.kind === "class") return { ...token, source: classWithoutQuote(token.source) }
    if (token.kind === "character" && token.character === '"' && !isOwnQuote) {
      return { ...token, source: quote, character: quote }
    }
    return token
  })
}

const withoutQuote: Readonly<Record<string, string>> = {
  [String.raw`\D`]: String.raw`\x00-/:-\x{10FFFE}`,
  [String.raw`\S`]: String.raw`\x00-\x08\x0b\x0e-\x1f!-\x{10FFFE}`,
  [String.raw`\W`]: String.raw`\x00-/:-@\[-\^` + "`" + String.raw`{-\x{10FFFE}`
}

const classWithoutQuote = (source: string): string => {
  const rewritten = rewriteClass(source)
  const isSurelyWithout = rewritten.startsWith("[^") || /^\\[dsw]$/.test(rewritten)
  if (!isSurelyWithout && RE2JS.compile(rewritten).testExact(quote)) {
    throw new InvalidExpression(
      `${source} also matches the quotes between fields; list the characters it may match, or those it may not`
    )
  }
  return rewritten
}

const rewriteClass = (source: string): string => {
  if (source.startsWith("[^")) return `[^${quote}${source.slice(2)}`
  if (source.startsWith("[")) return source.replaceAll(/\\./gs, (member) => withoutQuote[member] ?? member)
  const expanded = withoutQuote[source]
  if (expanded !== undefined) return `[${expanded}]`
  return /^\\P|^\\p\{\^/.test(source) ? `[^${quote}${negatedProperty(source)}]` : source
}

const negatedProperty = (source: string): string =>
  source.startsWith(String.raw`\P`) ? `\\p${source.slice(2)}` : source.replace("{^", "{")

const maximumVariants = 16

/**
 * The pattern as the alternatives it stands for, as far as quotes are concerned: `"a"(,"b":1)?` is `"a"` or `"a","b":1`.
 * Undefined when there would be too many, or when a quote is repeated.
 */
const variantsOf = (tokens: ReadonlyArray<PatternToken>): ReadonlyArray<ReadonlyArray<PatternToken>> | undefined => {
  if (tokens.some(({ kind }) => kind === "flags")) return undefined
  const done: Array<ReadonlyArray<PatternToken>> = []
  const open = [...alternativesOf(tokens)]
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    const group = groupWithQuote(next)
    if (group === undefined) done.push(next)
    else {
      const { from, to } = group
      const repeat = next[to + 1]?.kind === "repeat" ? next[to + 1]?.source : undefined
      if (repeat !== undefined && repeat !== "?" && repeat !== "??") return undefined
      const choices = alternativesOf(next.slice(from + 1, to))
      const rest = next.slice(to + (repeat === undefined ? 1 : 2))
      for (const choice of repeat === undefined ? choices : [...choices, []]) {
        open.push([...next.slice(0, from), ...choice, ...rest])
      }
    }
    if (done.length + open.length > maximumVariants) return undefined
  }
  return done
}

const groupWithQuote = (
  tokens: ReadonlyArray<PatternToken>
): { readonly from: number; readonly to: number } | undefined => {
  let depth = 0
  let from = 0
  for (const [place, token] of tokens.entries()) {
    if (token.kind === "open" && depth++ === 0) from = place
    if (token.kind === "close" && --depth === 0 && tokens.slice(from, place).some(isQuote)) return { from, to: place }
  }
  return undefined
}

const isQuote = (token: PatternToken): boolean => token.kind === "character" && token.character === quote

/** The pattern between its quotes. Undefined where one is repeated, or where an anchor stands in the middle. */
const cutAtQuotes = (tokens: ReadonlyArray<PatternToken>): ReadonlyArray<ReadonlyArray<PatternToken>> | undefined => {
  const segments: Array<Array<PatternToken>> = [[]]
  for (const [place, token] of tokens.entries()) {
    if (token.kind === "anchor" || (isQuote(token) && tokens[place + 1]?.kind === "repeat")) return undefined
    if (isQuote(token)) segments.push([])
    else segments.at(-1)?.push(token)
  }
  return segments
}

const withoutAnchors = (tokens: ReadonlyArray<PatternToken>): ReadonlyArray<PatternToken> => {
  const start = tokens[0]?.kind === "anchor" && ["^", String.raw`\A`].includes(tokens[0].source) ? 1 : 0
  const last = tokens.at(-1)
  const end = last?.kind === "anchor" && ["$", String.raw`\z`].includes(last.source) ? -1 : tokens.length
  return tokens.slice(start, end)
}

const segmentsMatcher = (segments: ReadonlyArray<ReadonlyArray<PatternToken>>) => {
  const matchers = segments.map((tokens) => (isAnything(tokens) ? anything : linearMatcher(tokens)))
  const names = segments.flatMap((tokens) => (tokens.every(({ kind }) => kind === "character") ? [textOf(tokens)] : []))
  // The most telling ones first. Values come before keys, which are the same in every call of a tool.
  const order = matchers
    .map((matcher, place) => ({ matcher, place }))
    .filter(({ matcher }) => matcher !== anything)
    .map(({ matcher: { mayFit, fits, fixed }, place }) => ({ mayFit, fits, fixed, place }))
    .toSorted((one, other) => rank(other) - rank(one))
  const matches = (pieces: JsonPieces, effort: Effort): Fit => {
    if (pieces.length !== segments.length) return "no"
    for (const { mayFit, place } of order) if (!mayFit(pieces.at(place), effort)) return "no"
    let fit: Fit = "yes"
    for (const { fits, place } of order) {
      const part = fits(pieces.at(place), effort)
      if (part === "no") return "no"
      if (part === "unknown") fit = "unknown"
    }
    return fit
  }
  return { names, matches }
}

const anything: LinearMatcher = { mayFit: () => true, fits: () => "yes", fixed: 0 }

const isAnything = ([first, second, ...rest]: ReadonlyArray<PatternToken>): boolean =>
  first?.kind === "any" && second?.source === "*" && rest.length === 0

const rank = ({ fixed, place }: { readonly fixed: number; readonly place: number }): number =>
  fixed + (place % 4 === 3 ? 1000 : 0)

const textOf = (tokens: ReadonlyArray<PatternToken>): string =>
  tokens.map((token) => (token.kind === "character" ? token.character : "")).join("")
