import { foldLookAlikes } from "../../look-alikes.ts"
import type { TextFile } from "../../text-file.ts"

/** From strict to loose. A looser pass is only tried when a stricter one finds nothing at all. */
export const contentPasses = ["exact", "trailing_space", "surrounding_space", "look_alikes"] as const
export type ContentPass = (typeof contentPasses)[number]

/** A file's lines as one pass compares them, made when they are first asked for; `literal` is with their newlines. */
export class LineViews {
  readonly #file: TextFile
  readonly #views = new Map<ContentPass | "literal", ReadonlyArray<string>>()
  constructor(file: TextFile) {
    this.#file = file
  }
  get(pass: ContentPass | "literal"): ReadonlyArray<string> {
    const known = this.#views.get(pass)
    if (known !== undefined) return known
    const view = pass === "literal" ? this.#literal() : this.#comparable(pass)
    this.#views.set(pass, view)
    return view
  }
  #literal(): ReadonlyArray<string> {
    const file = this.#file
    return Array.from({ length: file.lineCount }, (_, line) =>
      literally({ text: file.line(line), noNewline: !file.endsWithNewline(line) })
    )
  }
  #comparable(pass: ContentPass): ReadonlyArray<string> {
    const view = Array.from({ length: this.#file.lineCount }, (_, line) => comparable(this.#file.line(line), pass))
    if (view[0]?.startsWith("\uFEFF") === true) view[0] = view[0].slice(1)
    return view
  }
}

/** How a pass sees a line. A carriage return at the end is never seen. */
export const comparable = (line: string, pass: ContentPass): string => {
  const visible = line.endsWith("\r") ? line.slice(0, -1) : line
  if (pass === "exact") return visible
  if (pass === "trailing_space") return visible.trimEnd()
  return pass === "surrounding_space" ? visible.trim() : foldLookAlikes(visible).trim()
}

/** A line of which every character counts. */
export const literally = (line: { readonly text: string; readonly noNewline: boolean }): string =>
  line.noNewline ? line.text : `${line.text}\n`
