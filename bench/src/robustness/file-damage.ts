import type { Sample, Tree } from "./corpus.ts"
import { type Damaged, isLf, mapTree, tabbed, toCrlf, withFile } from "./damage.ts"
import { type FilePatch, type Hunk, type PlacedLine, placedLines, type UnifiedStyle } from "./diff.ts"
import type { Random } from "./random.ts"

/** A damaged patch before it is written in one of the formats. What is not given is as in the sample. */
export interface DamagedPatch extends Partial<Omit<Damaged<string>, "request">> {
  readonly files?: ReadonlyArray<FilePatch>
  readonly style?: UnifiedStyle
  readonly text?: (patch: string) => string
}

interface ChosenHunk {
  readonly file: FilePatch
  readonly hunk: Hunk
}

/** All hunks in files that are neither created nor deleted. */
export const modifiedHunks = ({ files }: Sample): ReadonlyArray<ChosenHunk> =>
  files.flatMap((file) => (file.kind === "modify" ? file.hunks.map((hunk) => ({ file, hunk })) : []))

/** The lines of a hunk that stay. */
export const contextOf = (hunk: Hunk): ReadonlyArray<PlacedLine> => placedLines(hunk).filter(({ sign }) => sign === " ")

/** The files with CRLF, the patch as it was. A file that the patch creates has the line endings of the patch. */
export const crlfFiles = (sample: Sample): DamagedPatch => ({
  before: mapTree(sample.before, toCrlf),
  right: [mapTree(sample.after, (text, path) => (sample.before.has(path) ? toCrlf(text) : text))]
})

/** A place in a file that no hunk covers, at least two lines away from each: line indexes before and after. */
const placeOutside = (
  file: FilePatch,
  lines: number,
  random: Random
): { before: number; after: number } | undefined => {
  const isCovered = (at: number): boolean =>
    file.hunks.some(({ oldStart, oldCount }) => at > oldStart - 3 && at < oldStart + oldCount + 1)
  const before = random.pick(Array.from({ length: lines }, (_, at) => at).filter((at) => !isCovered(at)))
  if (before === undefined) return undefined
  const above = file.hunks.filter(({ oldStart }) => oldStart <= before)
  return { before, after: before + above.reduce((sum, { oldCount, newCount }) => sum + newCount - oldCount, 0) }
}

const insertBoth = (
  trees: { readonly before: Tree; readonly after: Tree },
  path: string,
  place: { readonly before: number; readonly after: number },
  inserted: ReadonlyArray<string>
): { readonly before: Tree; readonly after: Tree } => ({
  before: withFile(trees.before, path, (lines) => lines.splice(place.before, 0, ...inserted)),
  after: withFile(trees.after, path, (lines) => lines.splice(place.after, 0, ...inserted))
})

/** Files with more lines outside of the hunks, some of them copies of others. */
export const drifted = (sample: Sample, random: Random): DamagedPatch | undefined => {
  let trees: { before: Tree; after: Tree } = sample
  for (const file of sample.files.filter(({ kind }) => kind === "modify")) {
    const lines = (sample.before.get(file.path) ?? "").split("\n")
    const place = placeOutside(file, lines.length - 1, random)
    if (place === undefined) continue
    const inserted = Array.from({ length: random.between(1, 40) }, (_, number) =>
      random.next() < 0.5 ? (random.pick(lines) ?? "") : `drifted line ${number}`
    )
    trees = insertBoth(trees, file.path, place, inserted)
  }
  return trees.before === sample.before ? undefined : { before: trees.before, right: [trees.after] }
}

/** A file with a copy of a hunk's old lines above it. */
export const identicalBlockAbove = (sample: Sample, random: Random): DamagedPatch | undefined => {
  for (const { file, hunk } of random.shuffle(modifiedHunks(sample))) {
    const place = placeOutside(file, Math.max(0, hunk.oldStart - 2), random)
    if (place === undefined || hunk.oldCount === 0) continue
    const block = placedLines(hunk).flatMap(({ before, text }) => (before === undefined ? [] : [text]))
    const { before, after } = insertBoth(sample, file.path, place, block)
    return { before, right: [after] }
  }
  return undefined
}

/** Blanks at the ends of some lines of context in the files, which the patch does not have. */
export const trailingSpaceTrimmed = (sample: Sample, random: Random): DamagedPatch | undefined => {
  let { before, after } = sample
  for (const { file, hunk } of modifiedHunks(sample)) {
    for (const line of contextOf(hunk)) {
      if (line.text.trim() === "" || random.next() < 0.5) continue
      const blanks = " ".repeat(random.between(1, 3))
      const pad = (at: number | undefined) => (lines: Array<string>) => void (lines[at ?? -1] += blanks)
      before = withFile(before, file.path, pad(line.before))
      after = withFile(after, file.path, pad(line.after))
    }
  }
  return before === sample.before ? undefined : { before, right: [after] }
}

/** Files that are indented by tabs, and a patch with four spaces for each. */
export const tabsToSpaces = (sample: Sample): DamagedPatch | undefined => {
  const texts = [...sample.before, ...sample.after]
  if (!texts.every(([, text]) => isLf(text) && tabbed(text) !== undefined)) return undefined
  const change = (text: string): string => tabbed(text)?.tabs ?? text
  const before = mapTree(sample.before, change)
  // Line by line from the expanded files, because the unit of indentation is that of a whole file.
  const files = sample.files.map((file) => {
    const linesOf = (tree: Tree): ReadonlyArray<string> => tabbed(tree.get(file.path) ?? "")?.spaces.split("\n") ?? []
    const [old, now] = [linesOf(sample.before), linesOf(sample.after)]
    const expand = ({ sign, text, before: from, after: to }: PlacedLine): string =>
      sign + ((from === undefined ? now[to ?? -1] : old[from]) ?? text)
    return { ...file, hunks: file.hunks.map((hunk) => ({ ...hunk, lines: placedLines(hunk).map(expand) })) }
  })
  const isIndented = files.some(
    ({ kind, hunks }) => kind === "modify" && hunks.some(({ lines }) => lines.some((line) => /^[ -] {4}/.test(line)))
  )
  if (!isIndented) return undefined
  // Nothing tells that a new file should have tabs.
  const literal = (text: string, path: string): string =>
    sample.before.has(path) ? change(text) : (tabbed(text)?.spaces ?? text)
  return { before, right: [mapTree(sample.after, change), mapTree(sample.after, literal)], files }
}

/** Files that end without a newline, and a patch that does not say so. */
export const noNewlineMarkMissing = (sample: Sample): DamagedPatch | undefined => {
  const unterminated = (text: string): string => text.replace(/\n$/, "")
  for (const { file, hunk } of modifiedHunks(sample)) {
    const [before = "", after = ""] = [sample.before.get(file.path), sample.after.get(file.path)]
    const isLast = hunk.oldStart + hunk.oldCount - 1 === before.split("\n").length - 1
    const isTerminated = /[^\n]\n$/.test(before) && /[^\n]\n$/.test(after)
    if (!isLast || !isTerminated || hunk.lines.some((line) => line.startsWith("\\"))) continue
    const right = new Map(sample.after).set(file.path, unterminated(after))
    // Of a last line that is replaced, the patch says that it ends in a newline.
    const endsInContext = hunk.lines.at(-1)?.startsWith(" ") ?? false
    return {
      before: new Map(sample.before).set(file.path, unterminated(before)),
      right: endsInContext ? [right] : [right, sample.after]
    }
  }
  return undefined
}
