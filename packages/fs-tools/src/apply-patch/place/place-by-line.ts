import { findLines } from "../../matching/find-lines.ts"
import type { HunkLine } from "../patch.ts"
import { type HunkSides, isInformative, looksUnchanged } from "./hunk-sides.ts"
import { comparable, type LinePass, loosePasses, type LineViews } from "./line-views.ts"
import type { HunkPlacement } from "./placement.ts"

/** How many context lines at each side of a hunk may differ from the file. */
const maximumFuzz = 2

/** How far from the expected line a hunk may go that fits only partly. */
const nearbyLines = 25

/** More places than these are not compared one by one. */
const maximumCandidates = 200

/** Where a hunk is expected, and what is known of the other hunks. */
export interface Expected {
  /** Its stated line and the offset of the hunks before it. */
  readonly guess: number
  /** The header counts old lines, and the hunk has none. */
  readonly lacksOldLines: boolean
  /** Where the hunks before it end: a hunk that fits only partly can't stand before that. */
  readonly floor: number
  /** The line that the other hunks of the file point to, where one of them has a unique place. */
  readonly hint: () => number | undefined
  /** True for a place that another hunk changes. */
  readonly conflicts: (at: number) => boolean
}

type Pass = Exclude<LinePass, "literal"> | "literal"
const exactPasses = ["literal", "exact"] as const

/**
 * Finds the place of a hunk that states its line. There, an exact match is enough. Anywhere else the place must be the
 * only one, and the lines that match must identify it; see docs/patches.md. `others` are further ways to read the hunk.
 */
export const placeByLine = (
  views: LineViews,
  given: HunkSides,
  others: () => ReadonlyArray<HunkSides>,
  expected: Expected
): { readonly placement: HunkPlacement; readonly variant: HunkSides } => {
  const first = atExpectedLine(views, given, expected)
  if (first !== undefined && first.kind !== "missing") return { placement: first, variant: given }
  let missing: HunkPlacement = first ?? { kind: "missing" }
  const read = others()
  const variants = [given, ...read]
  const attempts = [
    ...read.map((variant) => ({ variant, find: () => atExpectedLine(views, variant, expected) })),
    ...variants.map((variant) => ({
      variant,
      find: () => onlyPlace(views, variant, expected, [...exactPasses, "trailing_space"])
    })),
    { variant: given, find: () => appliedPlace(views, given, { guess: expected.guess }) },
    ...variants.map((variant) => ({ variant, find: () => onlyPlace(views, variant, expected, loosePasses) })),
    { variant: given, find: () => partialPlace(views, given, expected) }
  ]
  for (const { variant, find } of attempts) {
    const placement = find()
    if (placement === undefined) continue
    if (placement.kind !== "missing") return { placement, variant }
    missing = placement
  }
  return { placement: missing, variant: given }
}

/** A match where the hunk says, but for spaces at line ends. Without context at one side it may be there already. */
const atExpectedLine = (
  views: LineViews,
  sides: HunkSides,
  { guess, hint, conflicts, lacksOldLines }: Expected
): HunkPlacement | undefined => {
  const { old, now, prefix, suffix } = sides
  const hasAllContext = prefix > 0 && suffix > 0
  if (!hasAllContext && now.some(isInformative) && now.length > old.length && views.matchesAt("exact", now, guess))
    return { kind: "applied", line: guess }
  if (old.length === 0) {
    const hinted = hint()
    const isContradicted = lacksOldLines || (hinted !== undefined && hinted !== guess)
    if (isContradicted) return { kind: "missing", because: "uncertain_line" }
    if (guess > views.file.lineCount) return { kind: "missing", because: "far" }
    return conflicts(guess)
      ? { kind: "missing", because: "overlap" }
      : { kind: "placed", line: guess, pass: "literal", fuzz: 0 }
  }
  const passes: ReadonlyArray<Pass> = looksUnchanged(sides, "trailing_space")
    ? exactPasses
    : [...exactPasses, "trailing_space"]
  const pass = passes.find((one) => views.matchesAt(one, old, guess))
  if (pass === undefined) return undefined
  return conflicts(guess) ? { kind: "missing", because: "overlap" } : { kind: "placed", line: guess, pass, fuzz: 0 }
}

/** The only place in the file at which all old lines stand. */
const onlyPlace = (
  views: LineViews,
  sides: HunkSides,
  { guess, hint, conflicts }: Expected,
  passes: ReadonlyArray<Pass>
): HunkPlacement | undefined => {
  const { old, now } = sides
  if (old.length === 0) return undefined
  for (const pass of passes) {
    if (pass !== "literal" && pass !== "exact" && looksUnchanged(sides, pass)) continue
    const found = views.find(pass, old)
    if (found.length === 0) continue
    const free = found.filter((line) => !conflicts(line))
    if (free.length === 0) return { kind: "missing", because: "overlap" }
    const line = theOne(free, hint)
    if (line === undefined) return { kind: "ambiguous", lines: free }
    const distance = Math.abs(line - guess)
    if (views.matchesAt("exact", now, line) && now.length >= old.length) return { kind: "applied", line }
    const applied =
      distance === 0 ? undefined : appliedPlace(views, sides, { guess, within: distance, apartFrom: line })
    if (applied !== undefined) return applied
    // A hunk at the first line, without context before it, says that the file begins there.
    const startsFile = guess === 0 && sides.prefix === 0 && sides.suffix > 0
    return isIdentified(sides, distance) && !(startsFile && distance > 0)
      ? { kind: "placed", line, pass, fuzz: 0 }
      : { kind: "missing", because: "weak" }
  }
  return undefined
}

const theOne = (lines: ReadonlyArray<number>, hint: () => number | undefined): number | undefined => {
  if (lines.length === 1) return lines[0]
  const hinted = hint()
  return hinted !== undefined && lines.includes(hinted) ? hinted : undefined
}

/** True when lines that stand away from where they should still say which place is meant. */
const isIdentified = ({ old, prefix, suffix }: HunkSides, distance: number): boolean => {
  const informative = old.filter(isInformative).length
  if (old.some(({ noNewline }) => noNewline)) return true
  if (informative === 0) return distance === 0
  return informative > 1 || prefix + suffix > 0 || distance <= nearbyLines
}

/** Where the hunk's result stands already: no further away than its old lines, and not among them. */
const appliedPlace = (
  views: LineViews,
  { old, now, lines }: HunkSides,
  {
    guess,
    within = Number.POSITIVE_INFINITY,
    apartFrom = Number.POSITIVE_INFINITY
  }: { readonly guess: number; readonly within?: number; readonly apartFrom?: number }
): HunkPlacement | undefined => {
  if (!now.some(isInformative)) return undefined
  // A hunk that only removes lines leaves its context behind, which must be all that is around it.
  if (lines.every(({ sign }) => sign !== "+") && now.length < 2) return undefined
  const [first, ...others] = views
    .find("exact", now)
    .filter((line) => Math.abs(line - guess) <= within)
    .filter((line) => now.length >= old.length || line + now.length <= apartFrom || line >= apartFrom + old.length)
  if (first === undefined) return undefined
  const line = others.reduce((one, other) => (Math.abs(other - guess) < Math.abs(one - guess) ? other : one), first)
  return { kind: "applied", line }
}

/** True when the changes that lines begin with only add. */
const onlyAdds = (lines: ReadonlyArray<HunkLine>): boolean => {
  const end = lines.findIndex(({ sign }) => sign === " ")
  return lines.slice(0, end === -1 ? lines.length : end).every(({ sign }) => sign === "+")
}

/** A place near the expected line where all lines to remove stand, and some context differs. */
const partialPlace = (
  views: LineViews,
  { lines, old, prefix, suffix }: HunkSides,
  { guess, floor, conflicts }: Expected
): HunkPlacement | undefined => {
  if (prefix + suffix === 0) return undefined
  const view = views.get("exact")
  const texts = old.map(({ text }) => comparable(text, "exact"))
  const core = texts.slice(prefix, texts.length - suffix)
  const starts =
    core.length > 0
      ? findLines(view, core).map((line) => line - prefix)
      : Array.from({ length: 2 * nearbyLines + 1 }, (_, index) => guess - nearbyLines + index)
  if (starts.length > maximumCandidates) return undefined
  const addsBefore = prefix > 0 && onlyAdds(lines.slice(prefix))
  const addsAfter = suffix > 0 && onlyAdds(lines.slice(0, lines.length - suffix).toReversed())
  const candidates = starts.flatMap((start) => {
    const differs = texts.map((text, index) => view[start + index] !== text)
    const before = differs.slice(0, prefix).filter(Boolean).length
    const after = differs.slice(old.length - suffix).filter(Boolean).length
    const fuzz = Math.max(before, after)
    const informative = old.filter((line, index) => differs[index] === false && isInformative(line)).length
    // Without a line that matches beside it, added text may belong before or behind a line that the hunk left out.
    const isLoose = (addsBefore && before === prefix) || (addsAfter && after === suffix)
    const isPartial = fuzz <= maximumFuzz && !isLoose && informative >= (core.length > 0 ? 1 : 2)
    return isPartial && prefix + suffix > before + after ? [{ start, fuzz }] : []
  })
  if (candidates.length > 1) return { kind: "ambiguous", lines: candidates.map(({ start }) => Math.max(0, start)) }
  const [only] = candidates
  if (only === undefined) return undefined
  const { start, fuzz } = only
  if (Math.abs(start - guess) > nearbyLines) return { kind: "missing", because: "far" }
  const change = start + prefix
  if (change < floor || conflicts(start)) return { kind: "missing", because: "overlap" }
  if (change > views.file.lineCount) return undefined
  const added = lines.filter(({ sign }) => sign === "+")
  const afterRemoved = change + core.length
  if (added.some(isInformative)) {
    for (const at of [change, afterRemoved, change - added.length])
      if (views.matchesAt("exact", added, at)) return { kind: "applied", line: at }
  }
  const isLiteral = old.every(
    (line, index) => view[start + index] !== texts[index] || views.matchesAt("literal", [line], start + index)
  )
  return { kind: "placed", line: start, pass: isLiteral ? "literal" : "exact", fuzz }
}
