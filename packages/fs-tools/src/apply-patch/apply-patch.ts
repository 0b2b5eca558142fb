import { type ChangePlan, type CommitError, toolError, type ToolError, withMessage } from "@haft/core"
import * as Effect from "effect/Effect"

import { planOnce, type PlannedOperation } from "../plan-once.ts"
import { addText, readForDiff, replaceText, requireNothing, type TextError, textIn } from "../planned-text.ts"
import { TextFile } from "../text-file.ts"
import { type ParseError, refuseLine } from "./parse/line-error.ts"
import { begin, isEnvelope, lineOfBegin, parseEnvelope } from "./parse/parse-envelope.ts"
import { parseUnifiedDiff } from "./parse/parse-unified-diff.ts"
import type { HunkLine, Section } from "./patch.ts"
import { type PlacedHunk, type PlaceError, placeHunks } from "./place/place-hunk.ts"

export type PatchError = TextError | PlaceError

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

/** Applies the sections of a call's patch, all or none, and tells where each hunk was found. */
export const patchOperation = <Input extends object, E extends ToolError>(
  read: (input: Input) => Effect.Effect<ReadonlyArray<Section>, E>
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

/** What each way of matching does not look at. */
const ignored = {
  line_endings: "line endings",
  trailing_space: "spaces at line ends",
  surrounding_space: "indentation",
  spacing: "spacing",
  look_alikes: "look-alike characters and spacing"
} as const satisfies Record<Exclude<PlacedHunk["pass"], "exact">, string>

const inLines = (count: number): string => (count === 1 ? "1 line" : `${count} lines`)

/** Plans what every section of a patch changes, and tells where its hunks were found. */
export const planPatch = Effect.fnUntraced(function* (
  plan: ChangePlan,
  sections: ReadonlyArray<Section>
): Effect.fn.Return<ReadonlyArray<FoundHunk>, PatchError> {
  const hunks: Array<FoundHunk> = []
  for (const section of sections) for (const hunk of yield* planSection(plan, section)) hunks.push(hunk)
  return hunks
})

const planSection = (plan: ChangePlan, section: Section): Effect.Effect<ReadonlyArray<FoundHunk>, PatchError> => {
  if (section.kind === "add") return planAdd(plan, section)
  return section.kind === "delete" ? planDelete(plan, section) : planUpdate(plan, section)
}

const planAdd = Effect.fnUntraced(function* (plan: ChangePlan, section: Section & { kind: "add" }) {
  yield* addText(plan, section.path, TextFile.of(textOf(section.lines)))
  if (section.executable === true) yield* setExecutable(plan, section.path, true)
  return []
})

const planDelete = Effect.fnUntraced(function* (plan: ChangePlan, section: Section & { kind: "delete" }) {
  const { path } = section
  yield* requireFile(plan, path)
  if (section.hunks.length > 0) {
    const text = yield* textIn(plan, path)
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
  } else yield* readForDiff(plan, path)
  yield* plan.remove(path)
  return []
})

const planUpdate = Effect.fnUntraced(function* (plan: ChangePlan, section: Section & { kind: "update" }) {
  const { path, target, hunks, executable } = section
  if (target === undefined && isCreation(section) && (yield* plan.info(path)) === undefined) {
    yield* addText(plan, path, TextFile.of(textOf(section.hunks.flatMap(({ lines }) => lines))))
    return []
  }
  if (target !== undefined) yield* section.isCopy ? copy(plan, path, target) : move(plan, path, target)
  const result = target ?? path
  if (executable !== undefined) yield* setExecutable(plan, result, executable)
  if (hunks.length === 0) return []
  const placed = yield* placeHunks(path, yield* textIn(plan, result), hunks)
  yield* replaceText(plan, result, placed.replacements)
  return placed.hunks.map((hunk) => Object.assign({ path }, hunk))
})

/** Gives what has this name another path, where nothing is. Its mode goes with it. */
const move = Effect.fnUntraced(function* (plan: ChangePlan, from: string, to: string) {
  const source = yield* requireFile(plan, from)
  const there = yield* plan.info(to, { follow: false })
  if (there?.path === source.path) return
  yield* requireNothing(plan, to)
  yield* plan.move(from, to, { createDirectories: true })
})

/** Puts a copy where nothing is, of what the file was before the plan: copies in git's diffs do not depend on their order. */
const copy = Effect.fnUntraced(function* (plan: ChangePlan, from: string, to: string) {
  yield* requireNothing(plan, to)
  const { content, mode } = yield* plan.file(from, { original: true })
  // Only the plain permission bits: the copy may belong to another user, for whom set-user-ID would mean something else.
  yield* plan.write(to, content, { mode: mode & 0o777, createDirectories: true })
})

// Who may read it may run it, as git and chmod have it.
const setExecutable = Effect.fnUntraced(function* (plan: ChangePlan, path: string, executable: boolean) {
  const { mode } = yield* plan.file(path)
  yield* plan.setMode(path, executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111)
})

/** What has a name, a link itself too. */
const requireFile = Effect.fnUntraced(function* (plan: ChangePlan, path: string) {
  const found = yield* plan.info(path, { follow: false })
  if (found === undefined) {
    return yield* toolError("file_not_found", `${path} does not exist; nothing was changed`, {
      suggestion: "Check the path, or list the directory.",
      details: { path }
    })
  }
  if (found.kind === "directory") {
    return yield* toolError("is_directory", `${path} is a directory; nothing was changed`, {
      suggestion: "Name a file in it.",
      details: { path }
    })
  }
  return found
})

/** `@@ -0,0 +1,n @@` makes a file that is not there yet, whatever the header calls its old side. */
const isCreation = ({ hunks }: Section & { kind: "update" }): boolean =>
  hunks.length === 1 &&
  hunks.every(
    ({ place, lines }) => place.kind === "line" && place.line === 0 && lines.every(({ sign }) => sign === "+")
  )

const textOf = (lines: ReadonlyArray<HunkLine>): string =>
  lines.map(({ text, noNewline }) => text + (noNewline ? "" : "\n")).join("")
