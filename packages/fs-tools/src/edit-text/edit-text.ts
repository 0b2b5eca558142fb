import { type ChangePlan, TimeSlices, toolError, type ToolError } from "@haft/core"
import * as Effect from "effect/Effect"

import { commonLines } from "../matching/common-lines.ts"
import { fitIndentation, indentOf, type LinePair } from "../matching/indentation.ts"
import { foldLookAlikes, plainLookAlike } from "../matching/look-alikes.ts"
import { describeNearest, nearestPlace, repairedLines } from "../matching/nearest-place.ts"
import type { Parts } from "../matching/occurrences.ts"
import { replaceText, type TextError, textIn } from "../planned-text.ts"
import type { TextReplacement, TextFile } from "../text-file.ts"
import { keepBlankLines } from "./blank-lines.ts"
import { type FindPass, findPasses, findTextInParts, type FoundText, lineEnd, strictPasses } from "./find-text.ts"
import { restoredEdit, type RestoredForm } from "./restored-edit.ts"

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

export type EditError = TextError | ToolError<"match_not_found" | "match_not_unique" | "already_applied" | "stale_file">

export interface EditedText {
  readonly before: TextFile
  readonly after: TextFile
  readonly edits: ReadonlyArray<MadeEdit>
}

export interface MadeEdit {
  readonly pass: FindPass | RestoredForm
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
  const slices = new TimeSlices()
  let after = before
  for (const [index, given] of edits.entries()) {
    const which = edits.length === 1 ? "the text to find" : `the text to find of edit ${index + 1}`
    const { pass, places, edit } = yield* placesFor({ path, which }, after, given, options)
    if (options.loosely === true && edit.all !== true) yield* refuseApplied({ path, which }, after, edit, places)
    const replacements: Array<TextReplacement> = []
    for (const place of places) {
      if (slices.isOver()) yield* slices.pause
      const whole = options.loosely === true ? wholeLine(after, place, edit) : place
      const replacement = replacementFor(after, whole, edit)
      if (replacement === undefined) {
        return yield* unclearIndentation({ path, which }, after.lineAt(places[0]?.start ?? 0) + 1)
      }
      replacements.push(replacement)
    }
    made.push({ pass, replaced: places.length, line: after.lineAt(places[0]?.start ?? 0) + 1 })
    after = yield* replaceText(plan, path, replacements)
  }
  return { before, after, edits: made }
})

/** Refuses a file that is not in the state that the caller has read. */
export const requireBase = Effect.fnUntraced(function* (plan: ChangePlan, path: string, base: string) {
  const { fingerprint } = yield* plan.file(path)
  return yield* fingerprint === base
    ? Effect.void
    : toolError("stale_file", `${path} has changed since it was read; nothing was changed`, {
        suggestion: "Read the file again, then repeat the call.",
        details: { path, fingerprint }
      })
})

/**
 * Replacement for a found text. Its lines end as those around them do, and are indented as the place is.
 * Undefined when the text that was looked for does not tell how that is.
 */
export const replacementFor = (text: TextFile, found: FoundText, edit: TextEdit): TextReplacement | undefined => {
  const { end, pairs } = found
  // An edit that changes nothing but line ends means the bytes as they are.
  if (edit.find !== edit.replace && withLineFeeds(edit.find) === withLineFeeds(edit.replace)) {
    return { start: found.start, end, text: edit.replace }
  }
  // A line feed that stands for a carriage return and a line feed takes both of them.
  const splitsEnding = found.start > 0 && text.text.startsWith("\r\n", found.start - 1)
  const start = splitsEnding ? found.start - 1 : found.start
  const lines = withLineFeeds(edit.replace).split("\n")
  if (found.blankLines !== undefined) {
    const kept = keepBlankLines(found.blankLines, lines)
    return kept && { start, end, text: kept.join(endingAt(text, start)) }
  }
  const fitted = pairs === undefined ? lines : fitIndentation(pairs, lines)
  if (fitted === undefined) return undefined
  const kept = pairs === undefined ? fitted : keepLines(pairs, lines, fitted)
  return { start, end, text: kept.join(endingAt(text, start)) }
}

const withLineFeeds = (text: string): string => text.replaceAll("\r\n", "\n")

/** Lines that the edit leaves as they are keep the bytes that the file has for them; new ones take its characters. */
const keepLines = (
  pairs: ReadonlyArray<LinePair>,
  lines: ReadonlyArray<string>,
  fitted: ReadonlyArray<string>
): ReadonlyArray<string> => {
  // New lines with the indentation of the file are compared with its lines, not with those of the request.
  const isFitting = fitted === lines && pairs.some(({ expected, found }) => indentOf(expected) !== indentOf(found))
  const kept = commonLines(
    pairs.map(({ expected, found }) => (isFitting ? indentOf(found) + expected.trimStart() : expected)),
    lines
  )
  const blank = pairs.findLast(({ expected }) => expected === "")?.found ?? ""
  const spell = lookAlikesOf(pairs)
  return lines.map((line, index) => {
    const same = pairs[kept?.[index] ?? -1]
    if (same !== undefined) return same.found
    return line === "" ? blank : spell(fitted[index] ?? line)
  })
}

/** Spells a text as the file does, where each look-alike character of the request stands for one character of the file. */
const lookAlikesOf = (pairs: ReadonlyArray<LinePair>): ((text: string) => string) => {
  const known = new Map<string, string | undefined>()
  for (const { expected, found } of pairs) {
    if (expected.length !== found.length) continue
    for (const [index, character] of expected.split("").entries()) {
      const other = found[index] ?? ""
      if (foldLookAlikes(character) !== foldLookAlikes(other)) continue
      known.set(character, known.has(character) && known.get(character) !== other ? undefined : other)
    }
  }
  const changed = new Map([...known].filter(([from, to]) => to !== undefined && to !== from))
  // Where the file has plain characters for all look-alikes of a family, so have its new lines.
  const isPlain = (family: ReadonlyArray<string>): boolean => {
    const shown = [...known].filter(([from]) => family.includes(plainLookAlike(from)?.plain ?? ""))
    return shown.length > 0 && shown.every(([from, to]) => to === plainLookAlike(from)?.plain)
  }
  const spelled = (character: string): string => {
    const lookAlike = known.has(character) ? undefined : plainLookAlike(character)
    return changed.get(character) ?? (lookAlike && isPlain(lookAlike.family) ? lookAlike.plain : character)
  }
  return (text) => (changed.size === 0 ? text : text.replace(/[^]/g, spelled))
}

/**
 * The place with the indentation before it, when only the text to find lost that: the replacement's lines all have it,
 * and its first line would have it twice.
 */
const wholeLine = (text: TextFile, place: FoundText, { find, replace }: TextEdit): FoundText => {
  const [first = "", ...rest] = withLineFeeds(replace).split("\n")
  const lineStart = text.lineStart(text.lineAt(place.start))
  const indent = text.text.slice(lineStart, place.start)
  const isLost = indent !== "" && indent.trim() === "" && indentOf(find) === "" && indentOf(first) === indent
  const others = rest.filter((line) => line.trim() !== "").map(indentOf)
  const fits = others.length > 0 && others.every((one) => one.startsWith(indent)) && others.includes(indent)
  return isLost && fits ? { ...place, start: lineStart } : place
}

/** Refuses an edit whose text to find is part of its replacement where that stands already. */
const refuseApplied = (
  { path, which }: { readonly path: string; readonly which: string },
  text: TextFile,
  edit: TextEdit,
  places: ReadonlyArray<FoundText>
): Effect.Effect<void, ToolError<"already_applied">> => {
  const [place] = places
  if (place === undefined || edit.find === edit.replace || edit.replace.trim().length < shortestRecognized) {
    return Effect.void
  }
  const result = withLineFeeds(edit.replace).replaceAll("\n", endingAt(text, place.start))
  const at = text.text.indexOf(result, Math.max(0, place.start - result.length))
  if (at === -1 || at > place.start || at + result.length < place.end) return Effect.void
  const line = text.lineAt(at) + 1
  return toolError(
    "already_applied",
    `${which} stands in ${path} only as part of its replacement, at line ${line}: the edit is made already; nothing was changed`,
    { suggestion: "Leave the edit out. To make it again, set `exact`.", details: { path, line } }
  )
}

const spacedOut = (text: string): string => text.trim().replace(/\s+/g, " ")

/** So many places are replaced at once. */
const maximumPlaces = 1_000_000
/** So many are named when there should be one. */
const maximumNamed = 20

interface FoundEdit {
  readonly pass: FindPass | RestoredForm
  readonly places: ReadonlyArray<FoundText>
  /** The edit as it was read. */
  readonly edit: TextEdit
}

const placesFor = Effect.fnUntraced(function* (
  { path, which }: { readonly path: string; readonly which: string },
  text: TextFile,
  edit: TextEdit,
  options: EditOptions
): Effect.fn.Return<FoundEdit, EditError> {
  const slices = new TimeSlices()
  const isLoose = options.loosely === true
  for (const pass of isLoose ? findPasses : strictPasses) {
    yield* slices.between(text.lineCount)
    // An edit of spacing alone must say exactly which spacing it means.
    if (!strictPasses.includes(pass) && spacedOut(edit.find) === spacedOut(edit.replace)) break
    // A guess is made once at most: many places are replaced only where each is what was asked for.
    const isAll = edit.all === true && strictPasses.includes(pass)
    const { places, count } = yield* slices.run(
      findTextInParts(text, edit.find, pass, { overlapping: !isAll, keep: isAll ? maximumPlaces : maximumNamed })
    )
    if (count === 0) continue
    if (count === 1 || (isAll && count <= maximumPlaces)) return { pass, places, edit }
    if (isAll) {
      return yield* toolError(
        "file_too_large",
        `${which} stands at ${count} places in ${path}, more than the ${maximumPlaces} that are replaced at once; nothing was changed`,
        { suggestion: "Look for a longer text, or write the file anew.", details: { path, matches: count } }
      )
    }
    const lines = [...new Set(places.map(({ start }) => text.lineAt(start) + 1))]
    return yield* toolError(
      "match_not_unique",
      `${which} stands${strictPasses.includes(pass) ? "" : ", not quite as given,"} at ${count} places in ${path}, on line${lines.length === 1 ? "" : "s"} ${lines.join(", ")}; nothing was changed`,
      {
        suggestion:
          edit.all === true
            ? "Copy the text to find from the file as it is: only what is exactly that is replaced everywhere."
            : "Add lines around it until it is unique.",
        details: { path, matches: count, lines }
      }
    )
  }
  const restored = isLoose && edit.all !== true ? yield* slices.run(restoredEdit(text, edit)) : undefined
  if (restored !== undefined) return { pass: restored.form, places: [restored.place], edit: restored.edit }
  const expected = edit.find.split(lineEnd)
  const place = yield* nearestPlace(text, expected)
  const nearest = describeNearest(place, "the last of them does not end as given")
  const repaired = repairedLines(text, place, expected)
  const applied = yield* slices.run(appliedLine(text, edit))
  return yield* toolError(
    "match_not_found",
    `${which} is not in ${path}; ${nearest.sentence}${applied === undefined ? "" : `; the replacement stands at line ${applied}: the edit seems to be made already`}; nothing was changed`,
    {
      suggestion: applied === undefined ? nearest.remedy : "Read the file, and leave the edit out if it is made.",
      details: {
        path,
        ...nearest.details,
        ...(repaired !== undefined && applied === undefined && { repaired: { find: repaired.join("\n") } }),
        ...(applied !== undefined && { replacement_line: applied })
      }
    }
  )
})

/** Where the replacement of an edit stands, if it says enough to be recognized and stands once. */
function* appliedLine(text: TextFile, { replace }: TextEdit): Parts<number | undefined> {
  if (replace.trim().length < shortestRecognized) return undefined
  const { places, count } = yield* findTextInParts(text, replace, "exact", { overlapping: true, keep: 1 })
  const [place] = places
  return place === undefined || count > 1 ? undefined : text.lineAt(place.start) + 1
}

const shortestRecognized = 8

const unclearIndentation = (
  { path, which }: { readonly path: string; readonly which: string },
  line: number
): Effect.Effect<never, ToolError<"match_not_found">> =>
  toolError(
    "match_not_found",
    `${which} stands at line ${line} of ${path} with other spacing, which does not tell how the replacement should be spaced or indented; nothing was changed`,
    {
      suggestion: "Copy the text to find from the file with its spaces, tabs and blank lines.",
      details: { path, nearest_line: line }
    }
  )

/** How lines end where a text was found. */
export const endingAt = (text: TextFile, offset: number): string => {
  const line = text.lineAt(offset)
  const own = text.lineCount === 0 ? "" : text.terminator(line)
  const before = own === "" && line > 0 ? text.terminator(line - 1) : own
  return before === "" ? "\n" : before
}
