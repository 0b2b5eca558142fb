import { commonLines } from "./common-lines.ts"

/** The spaces and tabs a line begins with. */
export const indentOf = (line: string): string => /^[ \t]*/.exec(line)?.[0] ?? ""

/** A line as a request spells it and as the file has it. */
export interface LinePair {
  readonly expected: string
  readonly found: string
}

/**
 * New lines, indented as the place is where the old ones were found. New lines that fit the place already stay as they
 * are. Undefined when the old lines do not say how the new ones should be indented.
 */
export const fitIndentation = (
  pairs: ReadonlyArray<LinePair>,
  lines: ReadonlyArray<string>
): ReadonlyArray<string> | undefined => {
  const indents = pairs
    .filter(({ expected }) => expected.trim() !== "")
    .map(({ expected, found }) => ({
      text: expected.trim(),
      expected: indentOf(expected),
      found: indentOf(found),
      losesTabs: found.trim().includes("\t") && !expected.trim().includes("\t")
    }))
  // Where tabs within lines became spaces, nobody can tell which spaces of a new line were tabs.
  if (indents.some(({ losesTabs }) => losesTabs) && lines.some((line) => line.trim().includes("  "))) return undefined
  if (indents.every(({ expected, found }) => expected === found)) return lines
  if (isOtherPunctuation(indents)) return undefined
  const decided = isFitting(indents, lines)
  if (decided === undefined) return undefined
  if (decided) return lines
  const shift = shiftBetween(indents)
  const shifted: Array<string> = []
  for (const line of lines) {
    const isBlank = line.trim() === ""
    const indent = isBlank && line === "" ? "" : (shift(indentOf(line)) ?? (isBlank ? indentOf(line) : undefined))
    if (indent === undefined) return undefined
    shifted.push(indent + line.slice(indentOf(line).length))
  }
  return shifted
}

/**
 * True when only lines of punctuation are indented otherwise: a brace at another depth is another brace. A text to find
 * may have lost the indentation of its first line, whatever that is.
 */
const isOtherPunctuation = (indents: ReadonlyArray<TextIndents>): boolean => {
  const hasWords = ({ text }: TextIndents): boolean => /[\p{L}\p{N}]/u.test(text)
  const differing = indents.filter(({ expected, found }, at) => expected !== found && !(at === 0 && expected === ""))
  return differing.length > 0 && !differing.some(hasWords) && indents.some(hasWords)
}

interface Indents {
  readonly expected: string
  readonly found: string
}

/**
 * True when new lines have the indentation of the file, false when they have that of the request, undefined when that
 * can't be told. Lines that stay the same tell it best; otherwise the least indented line does, or tabs and spaces do.
 */
const isFitting = (indents: ReadonlyArray<TextIndents>, lines: ReadonlyArray<string>): boolean | undefined => {
  const news = lines.filter((line) => line.trim() !== "")
  if (news.length === 0) return true
  const own = news.map(indentOf)
  return byLinesThatStay(indents, news) ?? byLeastIndent(indents, own) ?? byTabs(indents, own)
}

interface TextIndents extends Indents {
  readonly text: string
}

/** Lines that stand in the request and in the file with different indentation: most of them have one of the two. */
const byLinesThatStay = (indents: ReadonlyArray<TextIndents>, news: ReadonlyArray<string>): boolean | undefined => {
  const differing = indents.filter(({ expected, found }) => expected !== found)
  const isAny = (side: keyof Indents): boolean =>
    news.some((line) => differing.some((one) => one.text === line.trim() && one[side] === indentOf(line)))
  const [asFile, asRequest] = [isAny("found"), isAny("expected")]
  if (asFile !== asRequest) return asFile
  if (!asFile) return undefined
  // A line such as a closing brace stands at many depths, and the order of lines tells which of them is meant.
  const inOrder = (side: keyof Indents): number =>
    commonLines(
      indents.map((one) => one[side] + one.text),
      news.map((line) => line.trimEnd())
    )?.filter((from) => from !== -1).length ?? 0
  const [file, request] = [inOrder("found"), inOrder("expected")]
  if (Math.max(file, request) < 2 * Math.min(file, request)) return undefined
  return file === request ? undefined : file > request
}

const byLeastIndent = (indents: ReadonlyArray<Indents>, news: ReadonlyArray<string>): boolean | undefined => {
  const least = (all: ReadonlyArray<string>): string =>
    all.reduce((one, other) => (other.length < one.length ? other : one))
  const own = least(news)
  const expected = least(indents.map((one) => one.expected))
  const found = least(indents.map((one) => one.found))
  if (own === expected && own !== found) return false
  if (own === found && own !== expected) return true
  const asExpected = indents.some((one) => one.expected === own && one.found !== own)
  const asFound = indents.some((one) => one.found === own && one.expected !== own)
  return asExpected === asFound ? undefined : asFound
}

/** One side is indented by tabs, the other by spaces. */
const byTabs = (indents: ReadonlyArray<Indents>, news: ReadonlyArray<string>): boolean | undefined => {
  const markOf = (all: ReadonlyArray<string>): "\t" | " " | undefined => {
    if (all.some((indent) => indent.includes("\t"))) return "\t"
    return all.some((indent) => indent !== "") ? " " : undefined
  }
  const file = markOf(indents.map(({ found }) => found))
  const request = markOf(indents.map(({ expected }) => expected))
  if (file === undefined || request === undefined || file === request) return undefined
  return markOf(news) === file
}

/** How indentation changes from the request to the file: undefined for an indentation about which nothing is known. */
const shiftBetween = (indents: ReadonlyArray<Indents>): ((indent: string) => string | undefined) =>
  prefixShift(indents) ?? tabShift(indents) ?? knownShift(indents)

/** All lines are further in, or further out, by the same amount. */
const prefixShift = (indents: ReadonlyArray<Indents>): ((indent: string) => string | undefined) | undefined => {
  const [first] = indents
  if (first === undefined) return undefined
  const least = indents.reduce((one, other) => (other.expected.length < one.expected.length ? other : one), first)
  const rest = (indent: string): string => indent.slice(least.expected.length)
  const isEven = indents.every(
    ({ expected, found }) => expected.startsWith(least.expected) && found === least.found + rest(expected)
  )
  if (!isEven || usesTabsForSpaces(indents)) return undefined
  return (indent) => (indent.startsWith(least.expected) ? least.found + rest(indent) : undefined)
}

/** One depth alone fits a shift, too: with a tab for spaces, deeper lines need tabs as well. */
const usesTabsForSpaces = (indents: ReadonlyArray<Indents>): boolean =>
  indents.some(
    ({ expected, found }) =>
      expected.includes(" ") !== found.includes(" ") && expected.includes("\t") !== found.includes("\t")
  )

/** One side has tabs, the other so many spaces for each of them. */
const tabShift = (indents: ReadonlyArray<Indents>): ((indent: string) => string | undefined) | undefined => {
  const widths = [1, 2, 3, 4, 5, 6, 7, 8].filter((width) => {
    const expand = (indent: string): string => indent.replaceAll("\t", " ".repeat(width))
    return indents.every(({ expected, found }) => expand(expected) === expand(found))
  })
  const [width] = widths
  if (width === undefined || widths.length > 1) return undefined
  const spaces = " ".repeat(width)
  const toTabs = indents.some(({ found }) => found.includes("\t"))
  if (toTabs && indents.some(({ found }) => found.startsWith(spaces))) return knownShift(indents)
  return (indent) => (toTabs ? indent.replaceAll(spaces, "\t") : indent.replaceAll("\t", spaces))
}

/** Only an indentation that was seen is known. */
const knownShift = (indents: ReadonlyArray<Indents>): ((indent: string) => string | undefined) => {
  const known = new Map<string, string | undefined>()
  for (const { expected, found } of indents) {
    known.set(expected, known.has(expected) && known.get(expected) !== found ? undefined : found)
  }
  return (indent) => known.get(indent)
}
