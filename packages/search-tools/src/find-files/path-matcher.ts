import { toolError, type ToolError } from "@haft/core"
import * as Effect from "effect/Effect"

/** Tells whether a path matches, with `/` between names. */
export type PathMatcher = (path: string) => boolean

/**
 * Compiles a glob: `*` and `?` within a name, `[a-z]`, `{a,b}`, and `**` for any directories. Matching takes time in
 * proportion to pattern and path, whatever the pattern: it never tries the ways to share a name out among stars.
 */
export const pathMatcher = Effect.fnUntraced(function* (
  pattern: string,
  { caseSensitive = true }: { readonly caseSensitive?: boolean } = {}
): Effect.fn.Return<PathMatcher, ToolError<"invalid_pattern">> {
  const alternatives = expandBraces(caseSensitive ? pattern : pattern.toLowerCase())
  if (alternatives === undefined || pattern.length > maximumLength) {
    return yield* toolError("invalid_pattern", `the glob pattern '${pattern.slice(0, 200)}' is too large`, {
      suggestion: `Use at most ${maximumLength} characters and ${maximumAlternatives} alternatives in { }.`,
      details: { pattern: pattern.slice(0, 200) }
    })
  }
  const compiled = alternatives.map((one) =>
    one
      .replace(/^(\.\/+)+/, "")
      .split("/")
      .map(compileName)
  )
  return (path) => {
    const names = (caseSensitive ? path : path.toLowerCase()).split("/")
    return compiled.some((steps) => matchesNames(steps, names))
  }
})

const maximumAlternatives = 256
const maximumLength = 4096

/** The patterns that `{a,b}` stands for; undefined where they are too many. An unclosed brace stands for itself. */
const expandBraces = (pattern: string): ReadonlyArray<string> | undefined => {
  let open: ReadonlyArray<string> = [pattern]
  for (;;) {
    const expanded = open.flatMap(expandInnermost)
    if (expanded.length > maximumAlternatives) return undefined
    if (expanded.length === open.length) return expanded.map((one) => one.replaceAll("\u0001", "{"))
    open = expanded
  }
}

const expandInnermost = (pattern: string): ReadonlyArray<string> => {
  const found = /\{([^{}]*)\}/.exec(pattern)
  if (found === null) return [pattern]
  const [whole, inside = ""] = found
  const [before, after] = [pattern.slice(0, found.index), pattern.slice(found.index + whole.length)]
  const members = inside.split(",")
  // Braces around a single word are no list: they stand for themselves.
  if (members.length === 1) return expandInnermost(`${before}\u0001${inside}\u0002${after}`).map(unmarked)
  return members.map((member) => `${before}${member}${after}`)
}

const unmarked = (pattern: string): string => pattern.replaceAll("\u0002", "}")

type Step = "any directories" | ReadonlyArray<Unit>

/** Matcher for one character of a name; a star matches any number of them. */
type Unit = "star" | ((character: string) => boolean)

const compileName = (part: string): Step => {
  if (part === "**") return "any directories"
  const units: Array<Unit> = []
  const characters = Array.from(part)
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? ""
    const set = character === "[" ? characterSet(characters, at) : undefined
    if (set !== undefined) {
      units.push(set.includes)
      at = set.end
    } else if (character === "*") {
      if (units.at(-1) !== "star") units.push("star")
    } else if (character === "?") units.push(() => true)
    else {
      const literal = character === "\\" ? (characters[++at] ?? "\\") : character
      units.push((other) => other === literal)
    }
  }
  return units
}

const characterSet = (characters: ReadonlyArray<string>, start: number) => {
  const isNegated = characters[start + 1] === "!" || characters[start + 1] === "^"
  const first = start + (isNegated ? 2 : 1)
  const end = characters.indexOf("]", first + 1)
  if (end < 0) return undefined
  const members = characters.slice(first, end)
  const ranges: Array<readonly [string, string]> = []
  for (let at = 0; at < members.length; at++) {
    const from = members[at] ?? ""
    const to = members[at + 1] === "-" ? members[at + 2] : undefined
    ranges.push([from, to ?? from])
    if (to !== undefined) at += 2
  }
  const includes = (character: string): boolean =>
    ranges.some(([from, to]) => from <= character && character <= to) !== isNegated
  return { includes, end }
}

/** Matches items against steps, some of which take any number of items: only the last of those is ever extended. */
const matchesInTurn = <S, I>(
  steps: ReadonlyArray<S>,
  items: ReadonlyArray<I>,
  { isWild, fits }: { readonly isWild: (step: S) => boolean; readonly fits: (step: S, item: I) => boolean }
): boolean => {
  let step = 0
  let wild = -1
  let taken = 0
  for (let item = 0; item < items.length;) {
    const now = steps[step]
    if (now !== undefined && isWild(now)) {
      wild = step++
      taken = item
    } else if (now !== undefined && fits(now, items[item] as I)) {
      step++
      item++
    } else if (wild >= 0) {
      step = wild + 1
      item = ++taken
    } else return false
  }
  return steps.slice(step).every(isWild)
}

const matchesName = (units: ReadonlyArray<Unit>, name: string): boolean =>
  matchesInTurn(units, Array.from(name), {
    isWild: (unit) => unit === "star",
    fits: (unit, character) => unit !== "star" && unit(character)
  })

const matchesNames = (steps: ReadonlyArray<Step>, names: ReadonlyArray<string>): boolean => {
  // Directories at the end are something in them: `a/**` is all below a, not a itself.
  const isOpen = steps.length > 1 && steps.at(-1) === "any directories"
  return matchesInTurn(isOpen ? [...steps, [starUnit]] : steps, names, {
    isWild: (step) => step === "any directories",
    fits: (step, name) => step !== "any directories" && matchesName(step, name)
  })
}

const starUnit: Unit = "star"
