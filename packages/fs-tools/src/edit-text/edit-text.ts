import { type ChangePlan, toolError, type ToolError } from "@haft/core"
import * as Effect from "effect/Effect"

import { describeNearest, nearestPlace } from "../nearest-place.ts"
import { replaceText, type TextError, textIn } from "../planned-text.ts"
import type { Replacement, TextFile } from "../text-file.ts"
import { type FindPass, findPasses, findText, type FoundText, strictPasses } from "./find-text.ts"

/** A text to find and what takes its place. */
export interface TextEdit {
  readonly find: string
  readonly replace: string
  /** Replaces every place instead of asking for exactly one. */
  readonly all?: boolean
}

export interface EditOptions {
  /** Forgive spaces at line ends, the indentation of a block and look-alike characters, where that is unique. */
  readonly loosely?: boolean
  /** The state the file must be in. */
  readonly base?: string | undefined
}

export type EditError = TextError | ToolError<"match_not_found" | "match_not_unique" | "stale_file">

export interface EditedText {
  readonly before: TextFile
  readonly after: TextFile
  readonly edits: ReadonlyArray<MadeEdit>
}

export interface MadeEdit {
  readonly pass: FindPass
  readonly replaced: number
  /** Where the first one stood when the edit was made, from 1. */
  readonly line: number
}

/** Plans edits in order, each on the result of the one before. */
export const planEdits = Effect.fnUntraced(function* (
  plan: ChangePlan,
  path: string,
  edits: ReadonlyArray<TextEdit>,
  options: EditOptions = {}
): Effect.fn.Return<EditedText, EditError> {
  const before = yield* textIn(plan, path)
  if (options.base !== undefined) yield* requireBase(plan, path, options.base)
  const made: Array<MadeEdit> = []
  let after = before
  for (const [index, edit] of edits.entries()) {
    const which = edits.length === 1 ? "the text to find" : `the text to find of edit ${index + 1}`
    const { pass, places } = yield* placesFor({ path, which }, after, edit, options)
    const replacements = places.map((place) => replacementFor(after, place, edit))
    made.push({ pass, replaced: places.length, line: after.lineAt(places[0]?.start ?? 0) + 1 })
    after = yield* replaceText(plan, path, replacements)
  }
  return { before, after, edits: made }
})

const requireBase = Effect.fnUntraced(function* (plan: ChangePlan, path: string, base: string) {
  const { fingerprint } = yield* plan.file(path)
  if (fingerprint === base) return
  return yield* toolError("stale_file", `${path} has changed since it was read; nothing was changed`, {
    suggestion: "Read the file again, then repeat the call.",
    details: { path, fingerprint }
  })
})

/** What is written in the place of a found text. New lines end as the lines around them do. */
export const replacementFor = (text: TextFile, found: FoundText, edit: TextEdit): Replacement => {
  const { start, end, shift } = found
  const shifted = shift === undefined ? edit.replace : edit.replace.split("\n").map(shift).join("\n")
  // Who spells carriage returns out means the bytes as they are.
  const isSpelledOut = edit.find.includes("\r") || edit.replace.includes("\r")
  const usesCarriageReturns = !isSpelledOut && shifted.includes("\n") && endingAt(text, start) === "\r\n"
  return { start, end, text: usesCarriageReturns ? shifted.replaceAll("\n", "\r\n") : shifted }
}

/** So many places are replaced at once. */
const maximumPlaces = 1_000_000
/** So many are named when there should be one. */
const maximumNamed = 20

const placesFor = Effect.fnUntraced(function* (
  { path, which }: { readonly path: string; readonly which: string },
  text: TextFile,
  edit: TextEdit,
  options: EditOptions
): Effect.fn.Return<{ pass: FindPass; places: ReadonlyArray<FoundText> }, EditError> {
  for (const pass of options.loosely === true ? findPasses : strictPasses) {
    // A guess is made once at most: many places are replaced only where each is what was asked for.
    const isAll = edit.all === true && strictPasses.includes(pass)
    const { places, count } = findText(text, edit.find, pass, {
      overlapping: !isAll,
      keep: isAll ? maximumPlaces : maximumNamed
    })
    if (count === 0) continue
    if (count === 1 || (isAll && count <= maximumPlaces)) return { pass, places }
    if (isAll) {
      return yield* toolError(
        "file_too_large",
        `${which} stands at ${count} places in ${path}, more than the ${maximumPlaces} that are replaced at once; nothing was changed`,
        { suggestion: "Look for a longer text, or write the file anew.", details: { path, matches: count } }
      )
    }
    const isLoose = !strictPasses.includes(pass)
    const lines = [...new Set(places.map(({ start }) => text.lineAt(start) + 1))]
    return yield* toolError(
      "match_not_unique",
      `${which} stands${isLoose ? ", not quite as given," : ""} at ${count} places in ${path}, on line${lines.length === 1 ? "" : "s"} ${lines.join(", ")}; nothing was changed`,
      {
        suggestion:
          edit.all === true
            ? "Copy the text to find from the file as it is: only what is exactly that is replaced everywhere."
            : "Add lines around it until it is unique.",
        details: { path, matches: count, lines }
      }
    )
  }
  const nearest = describeNearest(
    nearestPlace(text, edit.find.split(/\r?\n/)),
    "the last of them does not end as given"
  )
  return yield* toolError("match_not_found", `${which} is not in ${path}; ${nearest.sentence}; nothing was changed`, {
    suggestion: "Copy the text to find from the file as it is now.",
    details: { path, ...nearest.details }
  })
})

const endingAt = (text: TextFile, offset: number): string => {
  const line = text.lineAt(offset)
  const own = text.lineCount === 0 ? "" : text.terminator(line)
  if (own !== "" || line === 0) return own
  return text.terminator(line - 1)
}
