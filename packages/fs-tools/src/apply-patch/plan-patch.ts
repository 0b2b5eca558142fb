import { type ChangePlan, type PlannedFile, toolError } from "@haft/core"
import * as Effect from "effect/Effect"

import { addText, replaceText, requireNothing, type TextError, textIn } from "../planned-text.ts"
import { TextFile } from "../text-file.ts"
import { applyBinary, type BinaryError, requireVersion } from "./apply-binary.ts"
import type { HunkLine, PatchSection } from "./patch.ts"
import { type PlacedHunk, type PlaceError, placeHunks } from "./place/place-hunk.ts"
import { type LinkError, planLink, requireLink, retarget } from "./plan-link.ts"

export type PatchError = TextError | PlaceError | BinaryError | LinkError

export interface FoundHunk extends PlacedHunk {
  readonly path: string
}

/** Plans what every section of a patch changes, and tells where its hunks were found. */
export const planPatch = Effect.fnUntraced(function* (
  plan: ChangePlan,
  sections: ReadonlyArray<PatchSection>
): Effect.fn.Return<ReadonlyArray<FoundHunk>, PatchError> {
  const hunks: Array<FoundHunk> = []
  const done = new Set<PatchSection>()
  const waiting: Waiting = new Map()
  for (const [index, section] of sections.entries()) {
    if (done.has(section)) continue
    const later = sections.slice(index + 1).filter((one) => !done.has(one))
    const cleared = yield* makeRoom(plan, section, later, waiting)
    for (const one of cleared.done) done.add(one)
    for (const hunk of [...cleared.hunks, ...(yield* planSection(plan, section, waiting))]) hunks.push(hunk)
  }
  return hunks
})

/** Files, or the targets of links, that had to leave their path before their own section came, by that path. */
type Waiting = Map<string, PlannedFile | string>

interface Cleared {
  readonly done: ReadonlyArray<PatchSection>
  readonly hunks: ReadonlyArray<FoundHunk>
}

/**
 * Clears the path that a section writes to when later sections take away what is there: the sections of a git diff
 * describe one change of the whole tree, in the order of their names.
 */
const makeRoom = Effect.fnUntraced(function* (
  plan: ChangePlan,
  section: PatchSection,
  later: ReadonlyArray<PatchSection>,
  waiting: Waiting
): Effect.fn.Return<Cleared, PatchError> {
  const wanted = section.kind === "add" ? section.path : section.kind === "update" ? section.target : undefined
  if (wanted === undefined || (section.kind === "update" && wanted === section.path)) return nothingCleared
  const there = yield* plan.info(wanted, { follow: false })
  if (there === undefined) return nothingCleared
  const deletions = later.filter(
    (one) => one.kind === "delete" && (one.path === wanted || one.path.startsWith(`${wanted}/`))
  )
  for (const one of deletions) yield* planSection(plan, one, waiting)
  if (there.kind === "directory" && deletions.length > 0) yield* removeEmptied(plan, wanted)
  if (deletions.length > 0) return { done: deletions, hunks: [] }
  const leaving = later.find((one) => one.kind === "update" && one.path === wanted && isMove(one))
  if (leaving?.kind !== "update" || leaving.target === undefined) return nothingCleared
  if ((yield* plan.info(leaving.target, { follow: false })) === undefined) {
    return { done: [leaving], hunks: yield* planSection(plan, leaving, waiting) }
  }
  waiting.set(wanted, there.kind === "symlink" ? (there.target ?? "") : yield* plan.file(wanted))
  yield* plan.remove(wanted)
  return nothingCleared
})

const nothingCleared: Cleared = { done: [], hunks: [] }

const isMove = (section: PatchSection & { kind: "update" }): boolean => section.target !== undefined && !section.isCopy

/** Removes a directory that has no files any more. */
const removeEmptied = Effect.fnUntraced(function* (plan: ChangePlan, path: string) {
  const before = plan.changes.length
  yield* plan.remove(path, { recursive: true })
  const hasFiles = plan.changes.slice(before).some(({ what }) => what !== "directory")
  yield* hasFiles
    ? toolError("already_exists", `${path} is a directory with other files in it; nothing was changed`, {
        suggestion: "Delete or move those files first.",
        details: { path }
      })
    : Effect.void
})

const planSection = (
  plan: ChangePlan,
  section: PatchSection,
  waiting: Waiting
): Effect.Effect<ReadonlyArray<FoundHunk>, PatchError> => {
  if (section.kind === "add") return planAdd(plan, section)
  return section.kind === "delete" ? planDelete(plan, section) : planUpdate(plan, section, waiting)
}

const planAdd = Effect.fnUntraced(function* (plan: ChangePlan, section: PatchSection & { kind: "add" }) {
  const { path, binary } = section
  const text = textOf(section.lines)
  if (section.isLink === true) {
    yield* planLink(plan, path, text.replace(/\n$/, ""))
    return []
  }
  const there = yield* plan.info(path)
  if (binary !== undefined) {
    if (there?.kind === "file") yield* requireVersion(path, (yield* plan.file(path)).content, binary)
    yield* requireNothing(plan, path)
    yield* plan.write(path, yield* applyBinary(path, new Uint8Array(), binary), { createDirectories: true })
    if (section.executable === true) yield* setExecutable(plan, path, true)
    return []
  }
  if (there?.kind === "file" && text !== "" && (yield* holdsText(plan, path, text))) {
    return yield* toolError(
      "already_applied",
      `${path} exists already with the content of the patch; nothing was changed`,
      {
        suggestion: "Leave the file out of the patch.",
        details: { path }
      }
    )
  }
  yield* addText(plan, path, TextFile.of(text))
  if (section.executable === true) yield* setExecutable(plan, path, true)
  return []
})

const holdsText = (plan: ChangePlan, path: string, text: string): Effect.Effect<boolean, PatchError> =>
  textIn(plan, path).pipe(
    Effect.map((file) => file.text === text),
    Effect.catchIf(
      (error) => error.code === "binary_file" || error.code === "file_too_large",
      () => Effect.succeed(false)
    )
  )

const planDelete = Effect.fnUntraced(function* (plan: ChangePlan, section: PatchSection & { kind: "delete" }) {
  const { path } = section
  const { kind } = yield* requireFile(plan, path)
  if (section.isLink === true) yield* requireLink(plan, path, section.hunks)
  else if (section.binary !== undefined) yield* requireVersion(path, (yield* plan.file(path)).content, section.binary)
  else if (section.hunks.length > 0 && kind !== "symlink") {
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
  }
  yield* plan.remove(path)
  return []
})

const planUpdate = Effect.fnUntraced(function* (
  plan: ChangePlan,
  section: PatchSection & { kind: "update" },
  waiting: Waiting
) {
  const { path, target, hunks, executable, binary } = section
  if (target === undefined && isCreation(section) && (yield* plan.info(path)) === undefined) {
    yield* addText(plan, path, TextFile.of(textOf(section.hunks.flatMap(({ lines }) => lines))))
    return []
  }
  if (target !== undefined && section.isCopy) yield* copy(plan, path, target)
  else if (target !== undefined) yield* move(plan, path, target, waiting)
  const result = target ?? path
  if (section.isLink === true) {
    if (hunks.length > 0) yield* retarget(plan, result, hunks)
    return []
  }
  if (binary !== undefined) {
    const { content } = yield* plan.file(result)
    yield* plan.write(result, yield* applyBinary(result, content, binary))
  }
  if (executable !== undefined) yield* setExecutable(plan, result, executable)
  if (hunks.length === 0) return []
  const placed = yield* placeHunks(path, yield* textIn(plan, result), hunks)
  yield* replaceText(plan, result, placed.replacements)
  return placed.hunks.map((hunk) => Object.assign({ path }, hunk))
})

/** Gives what has this name another path, where nothing is. Its mode goes with it. */
const move = Effect.fnUntraced(function* (plan: ChangePlan, from: string, to: string, waiting: Waiting) {
  const held = waiting.get(from)
  if (held !== undefined) {
    waiting.delete(from)
    yield* put(plan, to, held)
    return
  }
  const source = yield* requireFile(plan, from)
  const there = yield* plan.info(to, { follow: false })
  if (there?.path === source.path) return
  yield* requireNothing(plan, to)
  yield* plan.move(from, to, { createDirectories: true })
})

/** Puts a copy where nothing is, of what was there before the plan: copies in git's diffs do not depend on their order. */
const copy = Effect.fnUntraced(function* (plan: ChangePlan, from: string, to: string) {
  const { kind, target = "" } = (yield* plan.info(from, { follow: false, original: true })) ?? {}
  yield* put(plan, to, kind === "symlink" ? target : yield* plan.file(from, { original: true }))
})

/** Puts a file, or a link with a target, where nothing is. */
const put = (plan: ChangePlan, path: string, what: PlannedFile | string): Effect.Effect<void, PatchError> => {
  if (typeof what === "string") return planLink(plan, path, what)
  // Only the plain permission bits: the file may belong to another user, for whom set-user-ID would mean something else.
  const options = { mode: what.mode & 0o777, createDirectories: true }
  return Effect.andThen(requireNothing(plan, path), plan.write(path, what.content, options))
}

// Users who may read it may run it, as git and chmod have it.
const setExecutable = Effect.fnUntraced(function* (plan: ChangePlan, path: string, executable: boolean) {
  const { mode } = yield* plan.file(path)
  yield* plan.setMode(path, executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111)
})

/** Entry at a path, without following a link. */
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
const isCreation = ({ hunks }: PatchSection & { kind: "update" }): boolean =>
  hunks.length === 1 &&
  hunks.every(
    ({ place, lines }) => place.kind === "line" && place.line === 0 && lines.every(({ sign }) => sign === "+")
  )

const textOf = (lines: ReadonlyArray<HunkLine>): string =>
  lines.map(({ text, noNewline }) => text + (noNewline ? "" : "\n")).join("")
