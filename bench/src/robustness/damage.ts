import type { Sample, Tree } from "./corpus.ts"
import type { Random } from "./random.ts"

/** A request as a model might send it, and what may come of it. */
export interface Damaged<Request> {
  readonly before: Tree
  readonly request: Request
  /** The trees that are right; none where the request must be refused. */
  readonly right: ReadonlyArray<Tree>
  /** A refusal is right, too, and not only safe. */
  readonly mayRefuse?: boolean
  /** A file without what the damaged request says nothing about, so that nobody can get it right or wrong. */
  readonly said?: (text: string, path: string) => string
}

/** One kind of damage. */
export interface DamageClass<Request> {
  readonly name: string
  /** The damaged form of a sample; `undefined` if there is nothing in it to damage. */
  readonly damage: (sample: Sample, random: Random) => Damaged<Request> | undefined
  /** Nothing in the request says which of two places is meant. */
  readonly isAmbiguous?: boolean
  /** The request differs from the file only in spacing. */
  readonly isSpacing?: boolean
}

export const mapTree = (tree: Tree, change: (text: string, path: string) => string): Tree =>
  new Map([...tree].map(([path, text]) => [path, change(text, path)]))

export const withFile = (tree: Tree, path: string, change: (lines: Array<string>) => void): Tree => {
  const lines = (tree.get(path) ?? "").split("\n")
  change(lines)
  return new Map(tree).set(path, lines.join("\n"))
}

/** A text without the blanks behind certain lines. */
export const withoutBlanksBehind =
  (isMeant: (line: string) => boolean) =>
  (text: string): string =>
    text
      .split("\n")
      .map((line) => (isMeant(line.trimEnd()) ? line.trimEnd() : line))
      .join("\n")

export const toCrlf = (text: string): string => text.replaceAll(/\r?\n/g, "\r\n")

/** Tests for a text that uses only LF as line ending. */
export const isLf = (text: string): boolean => !text.includes("\r")

/** Exchanges two letters of a word, as a typing error does; `undefined` for a line without a word of five letters. */
export const mistype = (line: string, random: Random): string | undefined => {
  const word = random.pick([...line.matchAll(/[A-Za-z]{5,}/g)])
  if (word === undefined) return undefined
  const letters = word[0].split("")
  const places = [...letters.keys()].filter((at) => at > 0 && letters[at] !== letters[at - 1])
  const at = random.pick(places)
  if (at === undefined) return undefined
  ;[letters[at - 1], letters[at]] = [letters[at] ?? "", letters[at - 1] ?? ""]
  return line.slice(0, word.index) + letters.join("") + line.slice(word.index + word[0].length)
}

/** The indentation of a text by tabs instead of spaces; `undefined` if it has neither. */
export const tabbed = (text: string): { readonly tabs: string; readonly spaces: string } | undefined => {
  if (/^\t/m.test(text)) return /^ +\t|^\t+ {2}/m.test(text) ? undefined : { tabs: text, spaces: expandTabs(text) }
  const depths = [...text.matchAll(/^ {2,}(?=[^ *\n])/gm)].map(([spaces]) => spaces.length)
  if (depths.length === 0) return undefined
  const unit = depths.every((depth) => depth % 4 === 0) ? 4 : 2
  if (!depths.every((depth) => depth % unit === 0)) return undefined
  const tabs = text.replaceAll(/^ {2,}/gm, (spaces) => {
    const depth = Math.floor(spaces.length / unit)
    return "\t".repeat(depth) + " ".repeat(spaces.length - depth * unit)
  })
  return { tabs, spaces: expandTabs(tabs) }
}

/** Leading tabs as four spaces each. */
const expandTabs = (text: string): string => text.replaceAll(/^\t+/gm, (tabs) => " ".repeat(tabs.length * 4))
