import * as Effect from "effect/Effect"

import { diffHunks } from "../diff/unified-diff.ts"
import { concatBytes } from "../text/concat-bytes.ts"
import { type ToolError, toolError } from "../tool-error.ts"
import { type ChangePlan, type Content, netChanges } from "./change-plan.ts"
import type { PlanError } from "./workspace.ts"

/** A hunk of a previewed diff that a person refused: the file, and the number of the hunk in it, from 1. */
export interface RefusedHunk {
  readonly path: string
  readonly hunk: number
}

/**
 * Takes refused hunks out of a plan, so that a commit makes the rest. Fails where the plan has no such hunk, and where a
 * file can't be divided: then nothing is committed.
 */
export const refuseHunks = Effect.fnUntraced(function* (
  plan: ChangePlan,
  refused: ReadonlyArray<RefusedHunk>
): Effect.fn.Return<void, PlanError | ToolError<"approval_denied">> {
  const byPath = Map.groupBy(refused, ({ path }) => path)
  for (const change of netChanges(plan.changes)) {
    const path = change.movedTo ?? change.path
    const own = byPath.get(path)
    if (own === undefined) continue
    byPath.delete(path)
    if (change.what !== "file") return yield* indivisible(path)
    const before = change.kind === "created" ? undefined : yield* plan.file(change.path, { original: true })
    const after = change.kind === "deleted" ? undefined : yield* plan.file(path)
    const numbers = new Set(own.map(({ hunk }) => hunk))
    const merged = yield* withoutHunks(bytesOf(before?.content), bytesOf(after?.content), numbers)
    if (merged === undefined) return yield* indivisible(path)
    if (before === undefined && merged.length === 0) yield* plan.remove(path)
    else yield* plan.write(path, merged, before === undefined ? {} : { mode: before.mode })
  }
  const [unknown] = byPath.keys()
  return unknown === undefined ? undefined : yield* indivisible(unknown)
})

const indivisible = (path: string): Effect.Effect<never, ToolError<"approval_denied">> =>
  toolError("approval_denied", `the change of ${path} can't be approved in these parts; nothing was changed`, {
    suggestion: "Make smaller calls, one for each part."
  })

/** The new content with some hunks as they were before; undefined where there is no such hunk, or the file is not text. */
const withoutHunks = Effect.fnUntraced(function* (
  before: Uint8Array,
  after: Uint8Array,
  refused: ReadonlySet<number>
): Effect.fn.Return<Uint8Array | undefined> {
  const hunks = isWide(before) || isWide(after) ? undefined : yield* diffHunks(before, after)
  if (hunks === undefined || [...refused].some((hunk) => hunks[hunk - 1] === undefined)) return undefined
  const [old, now] = [linesOf(before), linesOf(after)]
  const pieces: Array<Uint8Array> = []
  let oldLine = 0
  for (const [index, { oldStart, oldLines, newStart, newLines }] of hunks.entries()) {
    const from = oldLines === 0 ? oldStart : oldStart - 1
    const newFrom = newLines === 0 ? newStart : newStart - 1
    const part = refused.has(index + 1) ? old.slice(from, from + oldLines) : now.slice(newFrom, newFrom + newLines)
    // One by one: the arguments of a call lie on the stack, which does not hold those of a huge file.
    for (const line of old.slice(oldLine, from)) pieces.push(line)
    for (const line of part) pieces.push(line)
    oldLine = from + oldLines
  }
  return concatBytes([...pieces, ...old.slice(oldLine)])
})

/** True for UTF-16, where a newline has two bytes. */
const isWide = (bytes: Uint8Array): boolean =>
  (bytes[0] === 0xfe && bytes[1] === 0xff) || (bytes[0] === 0xff && bytes[1] === 0xfe)

const linesOf = (bytes: Uint8Array): ReadonlyArray<Uint8Array> => {
  const lines: Array<Uint8Array> = []
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(10, start)
    const end = newline === -1 ? bytes.length : newline + 1
    lines.push(bytes.subarray(start, end))
    start = end
  }
  return lines
}

const bytesOf = (content: Content | undefined): Uint8Array =>
  content === undefined ? new Uint8Array() : content instanceof Uint8Array ? content : concatBytes(content)
