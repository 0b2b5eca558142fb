import { withoutLineNumbers } from "../apply-patch/parse/line-numbers.ts"
import { hunkLine } from "../apply-patch/patch.ts"
import type { Parts } from "../matching/occurrences.ts"
import type { TextFile } from "../text-file.ts"
import { findTextInParts, type FoundText, strictPasses } from "./find-text.ts"

/** Damage that was removed from a request: line numbers of a reader, or HTML escapes for characters. */
export type RestoredForm = "line_numbers" | "html_escapes"

interface Edit {
  readonly find: string
  readonly replace: string
}

export interface RestoredEdit<E extends Edit> {
  readonly form: RestoredForm
  readonly edit: E
  readonly place: FoundText
}

/** An edit without what it picked up, where what it then looks for stands at exactly one place. */
export function* restoredEdit<E extends Edit>(text: TextFile, edit: E): Parts<RestoredEdit<E> | undefined> {
  const unnumbered = withoutNumbers(edit)
  if (unnumbered !== undefined) {
    const place = yield* onlyPlace(text, unnumbered.find)
    // A single line must stand where its number says: `80: x` may as well be a text of its own.
    const isSure = unnumbered.count > 1 || (place && text.lineAt(place.start) + 1 === unnumbered.first)
    if (place !== undefined && isSure === true && isOfWholeLines(text, place)) {
      return { form: "line_numbers", edit: { ...edit, find: unnumbered.find, replace: unnumbered.replace }, place }
    }
  }
  const unescaped = withoutEscapes(edit)
  const place = unescaped && (yield* onlyPlace(text, unescaped.find))
  return unescaped && place && { form: "html_escapes", edit: { ...edit, ...unescaped }, place }
}

function* onlyPlace(text: TextFile, find: string): Parts<FoundText | undefined> {
  for (const pass of strictPasses) {
    const { places, count } = yield* findTextInParts(text, find, pass, { overlapping: true, keep: 1 })
    if (count > 0) return count === 1 ? places[0] : undefined
  }
  return undefined
}

const isOfWholeLines = (text: TextFile, { start, end }: FoundText): boolean => {
  const last = text.lineAt(Math.max(start, end - 1))
  const lineEnd = text.lineStart(last + 1)
  return (
    start === text.lineStart(text.lineAt(start)) && (end === lineEnd || end === lineEnd - text.terminator(last).length)
  )
}

/** The edit without line numbers, when every line to find has one; and how many lines those are, from which number. */
const withoutNumbers = ({
  find,
  replace
}: Edit): (Edit & { readonly count: number; readonly first: number }) | undefined => {
  const lines = (text: string): ReadonlyArray<string> => text.replaceAll("\r\n", "\n").split("\n")
  const isOpen = find.endsWith("\n")
  const wanted = isOpen ? lines(find).slice(0, -1) : lines(find)
  const hunk = [...wanted.map((line) => hunkLine("-", line)), ...lines(replace).map((line) => hunkLine("+", line))]
  const read = withoutLineNumbers(hunk)
  if (read === undefined) return undefined
  const texts = read.map(({ text }) => text)
  return {
    find: texts.slice(0, wanted.length).join("\n") + (isOpen ? "\n" : ""),
    replace: texts.slice(wanted.length).join("\n"),
    count: wanted.length,
    first: Number.parseInt(wanted[0] ?? "", 10)
  }
}

const characters: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&#x27;": "'",
  "&apos;": "'",
  "&amp;": "&"
}

const escape = /&(?:lt|gt|quot|#39|#x27|apos|amp);/g

/** The edit with characters for HTML escapes, when both of its texts are escaped throughout. */
const withoutEscapes = ({ find, replace }: Edit): Edit | undefined => {
  const read = (text: string): string => text.replace(escape, (one) => characters[one] ?? one)
  const isEscaped = (text: string): boolean => !/[<>&]/.test(text.replace(escape, ""))
  return read(find) !== find && isEscaped(find) && isEscaped(replace)
    ? { find: read(find), replace: read(replace) }
    : undefined
}
