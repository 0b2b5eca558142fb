import { RE2JS } from "re2js"

import { type Fit, InvalidExpression, linearExpression } from "./linear-expression.ts"
import { type PatternToken, readPattern } from "./read-pattern.ts"
import { reservedCharacter } from "./stable-json.ts"

/** An expression over serialised arguments, compiled so that a value can't imitate a key. */
export interface ArgumentPattern {
  /** Matches the whole of the arguments, given as pieces, see `jsonPieces`. */
  readonly matches: (pieces: ReadonlyArray<string>) => Fit
  /** Strings that the pattern spells out in full. */
  readonly names: ReadonlyArray<string>
}

// Stands for a quote that opens or closes a string. Nothing but a quote that is spelled out in the pattern can
// match it: `.` and every class are rewritten to leave it out. Serialised arguments never contain it otherwise.
const quote = reservedCharacter

/**
 * Compiles a pattern such as `^{"path":".*\.txt"}$`. In its plain reading `.*` could run over the end of the
 * path into the next field; here a quote between fields is matched only by a quote in the pattern.
 */
export const argumentPattern = (source: string): ArgumentPattern => {
  const tokens = hardened(readPattern(source))
  // Compiled as a whole first: what is wrong with it is said of all of it.
  const whole = linearExpression(join(tokens))
  const segments = cutAtQuotes(tokens)
  if (segments === undefined) {
    return {
      names: [],
      matches: (pieces) => whole(pieces.join(quote))
    }
  }
  const matchers = segments.map(segmentMatcher)
  // Cheap ones first, so that a long text is only looked at when everything else fits.
  const order = matchers.map((_, place) => place).toSorted((one, other) => cost(matchers[one]) - cost(matchers[other]))
  return {
    names: matchers.flatMap((matcher) => (matcher.kind === "text" ? [matcher.text] : [])),
    matches: (pieces) => {
      if (pieces.length !== matchers.length) return "no"
      let fit: Fit = "yes"
      for (const place of order) {
        const part = fits(matchers[place], pieces[place] ?? "")
        if (part === "no") return "no"
        if (part === "unknown") fit = "unknown"
      }
      return fit
    }
  }
}

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
  if (RE2JS.compile(rewritten).testExact(quote)) {
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

/** The pattern between its quotes, where they all stand in the open: not repeated, not in a group, no alternative. */
const cutAtQuotes = (tokens: ReadonlyArray<PatternToken>): ReadonlyArray<ReadonlyArray<PatternToken>> | undefined => {
  const inner = withoutAnchors(tokens)
  const segments: Array<Array<PatternToken>> = [[]]
  let depth = 0
  for (const [place, token] of inner.entries()) {
    if (token.kind === "flags" || token.kind === "anchor") return undefined
    if (token.kind === "alternative" && depth === 0) return undefined
    if (token.kind === "open") depth += 1
    if (token.kind === "close") depth -= 1
    if (token.kind !== "character" || token.character !== quote) {
      segments.at(-1)?.push(token)
      continue
    }
    if (depth > 0 || inner[place + 1]?.kind === "repeat") return undefined
    segments.push([])
  }
  return segments
}

const withoutAnchors = (tokens: ReadonlyArray<PatternToken>): ReadonlyArray<PatternToken> => {
  const start = tokens[0]?.kind === "anchor" && ["^", String.raw`\A`].includes(tokens[0].source) ? 1 : 0
  const last = tokens.at(-1)
  const end = last?.kind === "anchor" && ["$", String.raw`\z`].includes(last.source) ? -1 : tokens.length
  return tokens.slice(start, end)
}

type SegmentMatcher =
  | { readonly kind: "anything" }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "expression"; readonly matches: (text: string) => Fit }

const segmentMatcher = (tokens: ReadonlyArray<PatternToken>): SegmentMatcher => {
  if (tokens.every((token) => token.kind === "character")) {
    return { kind: "text", text: tokens.map((token) => token.character).join("") }
  }
  const [first, second] = tokens
  if (tokens.length === 2 && first?.kind === "any" && second?.source === "*") return { kind: "anything" }
  return { kind: "expression", matches: linearExpression(join(tokens)) }
}

const cost = (matcher: SegmentMatcher | undefined): number =>
  matcher?.kind === "text" ? 0 : matcher?.kind === "anything" ? 1 : 2

const fits = (matcher: SegmentMatcher | undefined, piece: string): Fit => {
  if (matcher?.kind === "expression") return matcher.matches(piece)
  return matcher?.kind === "anything" || matcher?.text === piece ? "yes" : "no"
}

const join = (tokens: ReadonlyArray<PatternToken>): string => tokens.map(({ source }) => source).join("")
