import { type CommitError, toolError, type ToolError, withMessage } from "@haft/core"
import * as Effect from "effect/Effect"

import { planOnce, type PlannedOperation } from "../plan-once.ts"
import { type ParseError, refuseLine } from "./parse/line-error.ts"
import { begin, isEnvelope, lineOfBegin, parseEnvelope } from "./parse/parse-envelope.ts"
import { parseUnifiedDiff } from "./parse/parse-unified-diff.ts"
import type { PatchSection } from "./patch.ts"
import type { PlacedHunk } from "./place/place-hunk.ts"
import { type FoundHunk, type PatchError, planPatch } from "./plan-patch.ts"

/** Reads a patch in either form. */
export const parsePatch = (patch: string): Effect.Effect<ReadonlyArray<PatchSection>, ParseError> => {
  if (isEnvelope(patch)) return parseEnvelope(patch)
  const line = lineOfBegin(patch)
  return line === -1
    ? parseUnifiedDiff(patch, { refuse: refuseOtherText })
    : refuseLine(line, `there is text before '${begin}', which must come first`)
}

const refuseOtherText = (): Effect.Effect<never, ParseError> =>
  toolError(
    "patch_parse_error",
    "not a patch: expected a unified diff ('--- ' and '+++ ' lines) or '*** Begin Patch'; nothing was changed",
    {
      suggestion:
        "Send a diff such as `git diff` prints, with file headers and hunks, or sections between '*** Begin Patch' " +
        "and '*** End Patch'."
    }
  )

/** Applies the sections of a call's patch, all or none, and tells where each hunk was found. */
export const patchOperation = <Input extends object, E extends ToolError>(
  read: (input: Input) => Effect.Effect<ReadonlyArray<PatchSection>, E>
): PlannedOperation<Input, ReadonlyArray<FoundHunk>, PatchError | CommitError | E> => {
  const { preview, commit } = planOnce((plan, input: Input) =>
    Effect.flatMap(read(input), (sections) => planPatch(plan, sections))
  )
  return {
    preview: (input) =>
      preview(input).pipe(
        Effect.map(({ result, diff }) => ({
          result,
          diff: result.map((hunk) => `# ${describeHunk(hunk)}\n`).join("") + diff
        })),
        Effect.mapError(withFateOfTheRest)
      ),
    commit: (input) => Effect.mapError(commit(input), withFateOfTheRest)
  }
}

/** A failure is about one section; it says what became of the others, too. */
const withFateOfTheRest = <E extends ToolError>(error: E): E =>
  error.message.includes("nothing was changed")
    ? error
    : (withMessage(error, `${error.message}; nothing was changed`) as E)

/** Where and how a hunk was found, in one line. */
export const describeHunk = ({ path, line, pass, offset, fuzz, warning }: FoundHunk): string =>
  [
    `${path}: matched at line ${line}`,
    ...(pass !== "exact" ? [`ignoring ${ignored[pass]}`] : fuzz === 0 && warning === undefined ? ["exactly"] : []),
    ...(offset === 0 ? [] : [`${inLines(Math.abs(offset))} ${offset > 0 ? "below" : "above"} the stated one`]),
    ...(fuzz === 0 ? [] : [`with up to ${inLines(fuzz)} of context at a side that differ${fuzz === 1 ? "s" : ""}`]),
    ...(warning === undefined ? [] : [warning])
  ].join(", ")

/** Differences that each way of matching ignores. */
const ignored = {
  line_endings: "line endings",
  trailing_space: "spaces at line ends",
  surrounding_space: "indentation",
  spacing: "spacing",
  look_alikes: "look-alike characters and spacing"
} as const satisfies Record<Exclude<PlacedHunk["pass"], "exact">, string>

const inLines = (count: number): string => (count === 1 ? "1 line" : `${count} lines`)
