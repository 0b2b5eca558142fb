import { toolError } from "@haft/core"
import * as Effect from "effect/Effect"

import { describeNearest, type NearestPlace, nearestPlace, repairedLines } from "../../matching/nearest-place.ts"
import type { TextFile } from "../../text-file.ts"
import type { Hunk } from "../patch.ts"
import type { PlaceError } from "./place-hunk.ts"
import type { HunkPlacement, Refusal } from "./placement.ts"

/** So many places are named. */
const maximumNamed = 20

/** Says why a hunk has no place, where it comes closest, and what to do about it. */
export const refuseHunk = Effect.fnUntraced(function* (
  file: TextFile,
  {
    path,
    hunk,
    number,
    of
  }: { readonly path: string; readonly hunk: Hunk; readonly number: number; readonly of: number },
  placement: HunkPlacement
): Effect.fn.Return<never, PlaceError> {
  const which = `hunk ${number} of ${of} (line ${hunk.patchLine} of the patch)`
  const details = { path, hunk: number, patch_line: hunk.patchLine }
  if (placement.kind === "applied") {
    const line = placement.line + 1
    return yield* toolError(
      "already_applied",
      `${path}: ${which} is applied already: what it would make stands at line ${line}; nothing was changed`,
      {
        suggestion: "Leave the hunk out. To add the same lines again, give the lines after them as context.",
        details: { ...details, line }
      }
    )
  }
  if (placement.kind === "ambiguous") {
    const lines = placement.lines.slice(0, maximumNamed).map((line) => line + 1)
    return yield* toolError(
      "patch_hunk_failed",
      `${path}: ${which} fits ${placement.lines.length} places, at lines ${lines.join(", ")}; nothing was changed`,
      { suggestion: "Add context lines or an anchor that only one of them has.", details: { ...details, lines } }
    )
  }
  const { anchor, because } = placement.kind === "missing" ? placement : { anchor: undefined, because: undefined }
  const old = hunk.lines.filter(({ sign }) => sign !== "+").map(({ text }) => text)
  const stated = hunk.place.kind === "line" ? hunk.place.line : undefined
  const place = yield* nearestPlace(file, anchor === undefined ? old : [anchor], stated)
  const repaired = anchor === undefined ? repairedHunk(file, hunk, place) : undefined
  const nearest = describeNearest(place, because === undefined ? "they do not end as given" : reasons[because])
  const problem = anchor === undefined ? "does not match the file" : `has an anchor that is not in the file: ${anchor}`
  const reason = because === undefined || nearest.isWhole ? "" : `; ${reasons[because]}`
  return yield* toolError(
    "patch_hunk_failed",
    `${path}: ${which} ${problem}; ${nearest.sentence}${reason}; nothing was changed`,
    {
      suggestion: because === undefined ? nearest.remedy : remedies[because],
      details: {
        ...details,
        ...(anchor !== undefined && { anchor }),
        ...nearest.details,
        ...(repaired !== undefined && { repaired })
      }
    }
  )
})

/** The hunk with its old lines as the nearest place has them, if that changes context or spacing only. */
const repairedHunk = (file: TextFile, { lines }: Hunk, place: NearestPlace | undefined): string | undefined => {
  const old = lines.filter(({ sign }) => sign !== "+")
  const found = repairedLines(
    file,
    place,
    old.map(({ text }) => text)
  )
  if (place === undefined || found === undefined) return undefined
  const isSafe = old.every(({ sign, text }, index) => sign === " " || text.trim() === found[index]?.trim())
  if (!isSafe) return undefined
  let next = 0
  const body = lines.map(({ sign, text }) => sign + (sign === "+" ? text : (found[next++] ?? "")))
  const count = lines.filter(({ sign }) => sign !== "-").length
  return [`@@ -${place.line + 1},${old.length} +${place.line + 1},${count} @@`, ...body].join("\n")
}

const reasons: Readonly<Record<Refusal, string>> = {
  overlap: "another hunk changes them",
  far: "the place is too far from the stated line for a partial match",
  weak: "they identify no place away from the stated line",
  uncertain_line: "its line is contradicted by its header or by other hunks, and it has no context to be placed by",
  indentation: "the lines there are indented in a way that does not tell how the new ones should be"
}

const remedies: Readonly<Record<Refusal, string>> = {
  overlap: "Merge the hunks that overlap into one.",
  far: "Correct the line number in the hunk's header, or copy its context from the file.",
  weak: "Correct the line number in the hunk's header, or add context lines with words in them.",
  uncertain_line: "Add lines of context around the new ones.",
  indentation: "Copy the lines from the file with their spaces and tabs."
}
