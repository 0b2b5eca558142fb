import { type CommitFailure, countsOf, makeToolError, type ToolError } from "@haft/core"
import * as Effect from "effect/Effect"
import * as z from "zod"

import type { CommandOutcome } from "./run-command.ts"

/** Most paths that a reply lists; the audit log has more. */
const mostListed = 20

/** Fields by which haft's own tools report changes that were committed. */
export const changeFields = {
  created: z.number().int(),
  modified: z.number().int(),
  deleted: z.number().int(),
  paths: z.array(z.object({ path: z.string(), kind: z.string() })).describe("The first of them"),
  undoable: z
    .literal(false)
    .optional()
    .describe("Set where undo can't take the changes back: what they replaced is too large to keep"),
  diff_path: z.string().optional().describe("Artifact with the diff"),
  left_out: z
    .array(z.object({ path: z.string(), reason: z.string() }))
    .optional()
    .describe("What could not be committed")
}

/** Values of {@link changeFields}. */
export const reportChanges = ({ changes, isUndoable, leftOut, diffPath }: Effects) => ({
  ...countsOf(changes),
  paths: changes.slice(0, mostListed).map(({ path, kind }) => ({ path, kind })),
  ...(isUndoable === false && { undoable: isUndoable }),
  ...(diffPath !== undefined && { diff_path: diffPath }),
  ...(leftOut.length > 0 && { left_out: leftOut.slice(0, mostListed).map(({ path, reason }) => ({ path, reason })) })
})

type Effects = Pick<NonNullable<CommandOutcome["effects"]>, "changes" | "isUndoable" | "leftOut" | "diffPath">

/** How haft's own tools tell what became of a command's changes. */
export const changesResult = z
  .object({
    outcome: z
      .enum(["committed", "unchanged", "dropped", "refused"])
      .describe("What became of the changes, which are committed all or none"),
    ...changeFields
  })
  .optional()
  .describe("What the command changed in the workspace; absent where it wrote to it directly, see no_overlay")

export const noOverlayResult = z
  .string()
  .optional()
  .describe("Why the command wrote to the workspace directly, without an overlay: what it changed is not known")

export const changesOf = ({
  effects,
  noOverlay
}: CommandOutcome): {
  readonly changes?: NonNullable<z.output<typeof changesResult>>
  readonly no_overlay?: string
} => {
  if (effects === undefined) return noOverlay === undefined ? {} : { no_overlay: noOverlay }
  return { changes: { outcome: effects.outcome, ...reportChanges(effects) } }
}

/** Effects of a command as text for people; undefined where there is nothing to say. */
export const changesRemark = (changes: z.output<typeof changesResult>): string | undefined => {
  if (changes === undefined) return undefined
  const { outcome, created, modified, deleted, undoable, left_out: leftOut = [] } = changes
  const counts = [`${created} created`, `${modified} modified`, `${deleted} deleted`].join(", ")
  const parts = [
    ...(outcome === "committed" ? [counts] : []),
    ...(undoable === false ? ["can't be undone: what was replaced is too large to keep"] : []),
    ...(outcome === "dropped" ? [`the changes were dropped (${counts})`] : []),
    ...(leftOut.length > 0
      ? [`not committed: ${leftOut.map(({ path, reason }) => `${path} (${reason})`).join(", ")}`]
      : [])
  ]
  return parts.length === 0 ? undefined : parts.join("; ")
}

/** Fails with the reason why nothing was committed, if there is one. What the command printed comes along. */
export const requireCommit = (
  { effects }: CommandOutcome,
  output: unknown
): Effect.Effect<void, ToolError<CommitFailure>> => {
  if (effects?.failure === undefined) return Effect.void
  const { code, message, suggestion, details, retryable } = effects.failure
  return Effect.fail(
    makeToolError(code, message, {
      ...(suggestion !== undefined && { suggestion }),
      ...(details !== undefined && { details }),
      ...(retryable !== undefined && { retryable }),
      output
    })
  )
}
