import { type CommitError, toolError, type ToolError, withMessage, type Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

import { ChangePlan, type PlanError } from "../change-plan.ts"
import type { PlannedChange } from "../planned-file.ts"
import { TextFile } from "../text-file.ts"
import { type ParseError, refuseLine } from "./parse/line-error.ts"
import { begin, isEnvelope, lineOfBegin, parseEnvelope } from "./parse/parse-envelope.ts"
import { parseUnifiedDiff } from "./parse/parse-unified-diff.ts"
import type { HunkLine, Section } from "./patch.ts"
import { type PlacedHunk, type PlaceError, placeHunks } from "./place/place-hunk.ts"

export type PatchError = PlanError | PlaceError

export interface AppliedPatch {
  readonly changes: ReadonlyArray<PlannedChange>
  readonly hunks: ReadonlyArray<FoundHunk>
}

export interface FoundHunk extends PlacedHunk {
  readonly path: string
}

/** Reads a patch in either form. */
export const parsePatch = (patch: string): Effect.Effect<ReadonlyArray<Section>, ParseError> => {
  if (isEnvelope(patch)) return parseEnvelope(patch)
  const line = lineOfBegin(patch)
  return line === -1
    ? parseUnifiedDiff(patch, { refuse: refuseOtherText })
    : refuseLine(line, `there is text before '${begin}', which must come first`)
}

const refuseOtherText = (): Effect.Effect<never, ParseError> =>
  toolError(
    "patch_parse_error",
    "the text is no patch: it has no '--- ' and '+++ ' lines, as a unified diff does, and does not begin with " +
      "'*** Begin Patch'; nothing was changed",
    {
      suggestion:
        "Send a diff such as `git diff` prints, with file headers and hunks, or sections between '*** Begin Patch' " +
        "and '*** End Patch'."
    }
  )

/** Applies every section, or none. */
export const applyPatch = Effect.fnUntraced(
  function* (sections: ReadonlyArray<Section>): Effect.fn.Return<AppliedPatch, PatchError | CommitError, Workspace> {
    const { plan, hunks } = yield* planPatch(sections)
    return { changes: yield* plan.commit, hunks }
  },
  Effect.mapError((error) => withFateOfTheRest(error))
)

/** What a patch would change, as a diff, with a line on each hunk that was not exactly where it said. */
export const previewPatch = Effect.fnUntraced(
  function* (sections: ReadonlyArray<Section>): Effect.fn.Return<string, PatchError, Workspace> {
    const { plan, hunks } = yield* planPatch(sections)
    return hunks.map((hunk) => `# ${describeHunk(hunk)}\n`).join("") + plan.diff
  },
  Effect.mapError((error) => withFateOfTheRest(error))
)

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

/** What each way of matching does not look at. */
const ignored = {
  line_endings: "line endings",
  trailing_space: "spaces at line ends",
  surrounding_space: "indentation",
  spacing: "spacing",
  look_alikes: "look-alike characters and spacing"
} as const satisfies Record<Exclude<PlacedHunk["pass"], "exact">, string>

const inLines = (count: number): string => (count === 1 ? "1 line" : `${count} lines`)

const planPatch = Effect.fnUntraced(function* (
  sections: ReadonlyArray<Section>
): Effect.fn.Return<{ plan: ChangePlan; hunks: ReadonlyArray<FoundHunk> }, PatchError, Workspace> {
  const plan = yield* ChangePlan.make
  const hunks: Array<FoundHunk> = []
  for (const section of sections) for (const hunk of yield* planSection(plan, section)) hunks.push(hunk)
  return { plan, hunks }
})

const planSection = (plan: ChangePlan, section: Section): Effect.Effect<ReadonlyArray<FoundHunk>, PatchError> => {
  if (section.kind === "add") return planAdd(plan, section)
  return section.kind === "delete" ? planDelete(plan, section) : planUpdate(plan, section)
}

const planAdd = Effect.fnUntraced(function* (plan: ChangePlan, section: Section & { kind: "add" }) {
  yield* plan.add(section.path, TextFile.of(textOf(section.lines)))
  if (section.executable === true) yield* plan.setExecutable(section.path, true)
  return []
})

const planDelete = Effect.fnUntraced(function* (plan: ChangePlan, section: Section & { kind: "delete" }) {
  const { path } = section
  if (section.hunks.length > 0) {
    const text = yield* plan.text(path)
    const { replacements } = yield* placeHunks(path, text, section.hunks)
    if (text.replace(replacements).text !== "") {
      return yield* toolError(
        "patch_hunk_failed",
        `${path} has more in it than the patch deletes; nothing was changed`,
        {
          suggestion: "Read the file again and rebuild the patch from what it says now.",
          details: { path }
        }
      )
    }
  }
  yield* plan.remove(path)
  return []
})

const planUpdate = Effect.fnUntraced(function* (plan: ChangePlan, section: Section & { kind: "update" }) {
  const { path, target, hunks, executable } = section
  if (target === undefined && isCreation(section) && !(yield* plan.exists(path))) {
    yield* plan.add(path, TextFile.of(textOf(section.hunks.flatMap(({ lines }) => lines))))
    return []
  }
  if (target !== undefined) yield* section.isCopy ? plan.copy(path, target) : plan.move(path, target)
  const result = target ?? path
  if (executable !== undefined) yield* plan.setExecutable(result, executable)
  if (hunks.length === 0) return []
  const placed = yield* placeHunks(path, yield* plan.text(result), hunks)
  yield* plan.edit(result, placed.replacements)
  return placed.hunks.map((hunk) => Object.assign({ path }, hunk))
})

/** `@@ -0,0 +1,n @@` makes a file that is not there yet, whatever the header calls its old side. */
const isCreation = ({ hunks }: Section & { kind: "update" }): boolean =>
  hunks.length === 1 &&
  hunks.every(
    ({ place, lines }) => place.kind === "line" && place.line === 0 && lines.every(({ sign }) => sign === "+")
  )

const textOf = (lines: ReadonlyArray<HunkLine>): string =>
  lines.map(({ text, noNewline }) => text + (noNewline ? "" : "\n")).join("")
