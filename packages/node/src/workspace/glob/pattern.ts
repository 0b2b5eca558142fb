import { makeToolError, type ToolError } from "@haft/core"

/** Alternatives a pattern may expand to; every `{a,b}` multiplies them. */
const maximumAlternatives = 256
/**
 * Matching tries the ways to share a name out among the stars of one part. With three the longest name takes some
 * thirty milliseconds, with four two seconds, with six hours.
 */
const maximumStars = 3
const maximumDeepStars = 4
const maximumLength = 4096

/** Problem of a glob pattern, or undefined when it can be matched, and in bounded time. */
export const checkPattern = (pattern: string): ToolError<"invalid_pattern"> | undefined => {
  const problem = findProblem(normalizedPattern(pattern))
  return problem === undefined
    ? undefined
    : makeToolError("invalid_pattern", `invalid glob pattern '${shorten(pattern)}': ${problem}`, {
        suggestion:
          "Correct the pattern. `*` matches within a name, `**/` any directories, `\\` takes the next character as it is.",
        details: { pattern: shorten(pattern) }
      })
}

/**
 * A pattern with `/` between its parts and without `./` at its beginning, which says nothing. On Windows `\` separates, and
 * no name there has a character that it would have to stand before but brackets and braces.
 */
export const normalizedPattern = (pattern: string): string =>
  (process.platform === "win32" ? pattern.replaceAll("\\", "/") : pattern).replace(/^(\.\/+)+/u, "")

const findProblem = (pattern: string): string | undefined => {
  if (pattern === "") return "it is empty"
  if (pattern.length > maximumLength) return `it has more than ${maximumLength} characters`
  if (pattern.includes("\0")) return "it contains a NUL character"
  if (pattern.startsWith("!") && pattern[1] !== "(") return "it only says what to leave out"
  if (pattern.startsWith("/")) return "it is absolute; patterns are relative to the directory"
  const parts = pattern.split(/[/,{}]/u)
  if (parts.includes("..")) return "it leads out of the directory with '..'"
  if (parts.includes(".")) return "a '.' can only be at its beginning"
  return findSyntaxProblem(pattern) ?? findCostlyPart(pattern, /\*+|\(/gu)
}

const findSyntaxProblem = (pattern: string): string | undefined => {
  let alternatives = 1
  const open: Array<{ readonly start: number; count: number }> = []
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at]
    const last = open.at(-1)
    if (character === "\\") {
      if (++at === pattern.length) return "a \\ at its end has nothing to stand before"
    } else if (character === "[") {
      const end = endOfClass(pattern, at)
      if (end === undefined) return "an opening [ is never closed"
      if (hasReversedRange(pattern.slice(at + 1, end))) return "a range in [ ] ends before it begins"
      at = end
    } else if (character === "{") open.push({ start: at + 1, count: 1 })
    else if (character === "," && last !== undefined) last.count++
    else if (character === "}" && last !== undefined) {
      alternatives *= Math.max(last.count, rangeSize(pattern.slice(last.start, at)))
      open.pop()
    } else if ((character === "+" || character === "*") && pattern[at + 1] === "(") {
      return `repetition with ${character}( ) is not supported`
    } else if (character === "+" && (pattern[at - 1] === ")" || pattern[at - 1] === "]")) {
      return "a + after ) or ] would mean a repetition, which is not supported; \\+ is the character"
    }
    if (alternatives > maximumAlternatives) return `its { } stand for more than ${maximumAlternatives} patterns`
  }
  return open.length > 0 ? "an opening { is never closed" : undefined
}

/** How many patterns `{1..20}` or `{a..f}` stands for. */
const rangeSize = (inside: string): number => {
  const [, from = "", to = ""] = /^(-?\d+|.)\.\.(-?\d+|.)(?:\.\.-?\d+)?$/u.exec(inside) ?? []
  const place = (end: string): number => (/\d$/u.test(end) ? Number(end) : (end.codePointAt(0) ?? 0))
  return Math.abs(place(to) - place(from)) + 1
}

const endOfClass = (pattern: string, start: number): number | undefined => {
  let at = start + 1
  if (pattern[at] === "!" || pattern[at] === "^") at++
  // A bracket right at the beginning stands for itself.
  if (pattern[at] === "]") at++
  for (; at < pattern.length; at++) {
    if (pattern[at] === "]") return at
    if (pattern[at] === "\\") at++
    else if (pattern.startsWith("[:", at)) {
      const end = pattern.indexOf(":]", at + 2)
      if (end > 0) at = end + 1
    }
  }
  return undefined
}

const hasReversedRange = (members: string): boolean =>
  [...members.matchAll(/([^\\])-([^\\\]])/gsu)].some(([, from = "", to = ""]) => from > to)

/**
 * Why matching could take too long, or undefined. One star in a part has one way to match; several have as many
 * as there are ways to divide the name, and the parts multiply, unless there is nothing but stars. So do groups in ( ), and several `**` with the depth.
 */
export const findCostlyPart = (pattern: string, wild = /\*+/gu): string | undefined => {
  const parts = pattern.replaceAll(/\\./gsu, "x").split("/")
  const stars = parts.map((part) => (part === "**" || hasOnlyStars(part) ? 0 : (part.match(wild)?.length ?? 0)))
  const competing = stars.filter((count) => count > 1).reduce((sum, count) => sum + count, 0)
  if (competing > maximumStars) return `it has more than ${maximumStars} * or ( ) competing for the same names`
  const deep = parts.filter((part, index) => part === "**" && parts[index - 1] !== "**").length
  return deep > maximumDeepStars ? `it has more than ${maximumDeepStars} **` : undefined
}

/** True for a part whose only wildcards are `*` and `?`: `nameMatcher` takes it in linear time, however many there are. */
export const hasOnlyStars = (part: string): boolean => /^(?!.*\*\*)[^()[\]{}\\/]+$/su.test(part)

const shorten = (pattern: string): string => (pattern.length > 200 ? `${pattern.slice(0, 200)}…` : pattern)
