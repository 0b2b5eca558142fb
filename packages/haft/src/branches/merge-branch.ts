import {
  commitEffects,
  CurrentCall,
  definePlugin,
  diffOfEffects,
  makeToolError,
  netChanges,
  type Plugin,
  singleLine,
  toolError,
  Workspace
} from "@haft/core"
import { haft } from "@haft/dialects"
import { changeFields, reportChanges } from "@haft/exec-tools/operations"
import type { BranchEffects, NodeBranches } from "@haft/node/internal"
import * as Effect from "effect/Effect"
import * as z from "zod"

import type { StandardServices } from "../config/config.ts"

const input = z.strictObject({
  branch: z.string().describe("Name of the branch"),
  conflicts: z
    .enum(["refuse", "branch", "workspace"])
    .default("refuse")
    .describe("Which side counts for a path that changed on both; refuse merges nothing")
})

const output = z.object({ branch: z.string(), ...changeFields })

/** A plugin with the tool that merges a branch: a call like any other, so it is judged, recorded and undone like one. */
export const mergePlugin = (branches: NodeBranches): Plugin<StandardServices, undefined> => {
  /** State of a branch that a person saw before they approved the call with this input. */
  const shown = new WeakMap<object, string>()
  const merge = haft.tool({
    name: "merge_branch",
    operation: "merge_branch",
    description:
      "Commit everything that was changed on a branch to the workspace, all or nothing, and drop the branch. Refused " +
      "where a path was changed in the workspace, too.",
    input,
    output,
    risk: "dangerous",
    timeout: "10 minutes",
    touches: ({ branch }) => Effect.as(branches.find(branch), {}),
    preview: (given) =>
      Effect.scoped(
        Effect.gen(function* () {
          const effects = yield* branches.changes(given.branch)
          shown.set(given, yield* effects.fingerprint)
          return (yield* diffOfBranch(effects)).diff
        })
      ),
    execute: (given) =>
      Effect.gen(function* () {
        const canAsk = (yield* CurrentCall).approval?.canAsk ?? false
        const { effects } = yield* branches.merge(
          given.branch,
          given.conflicts,
          Effect.fnUntraced(function* (found) {
            const seen = shown.get(given)
            if (seen !== undefined && seen !== (yield* found.fingerprint)) return yield* changedSince(given.branch)
            const committed = yield* commitEffects(found, { isDropped: false, canAsk })
            return { effects: committed, isMerged: committed.failure === undefined }
          })
        )
        if (effects.failure !== undefined) {
          const { code, message, suggestion, details } = effects.failure
          return yield* Effect.fail(
            makeToolError(code, message, {
              ...(suggestion !== undefined && { suggestion }),
              ...(details !== undefined && { details })
            })
          )
        }
        return { branch: given.branch, ...reportChanges(effects) }
      }),
    render: ({ branch, created, modified, deleted, left_out: leftOut = [] }) =>
      [
        `Merged ${branch}: ${created} created, ${modified} modified, ${deleted} deleted`,
        ...leftOut.map(({ path, reason }) => `Not merged: ${singleLine(path)} (${reason})`)
      ].join("\n")
  })
  return definePlugin({ name: "haft/branches", version: "0.0.0", tools: [merge] })
}

/** Changes of a branch against the workspace as it is now. */
export const diffOfBranch = Effect.fnUntraced(function* (effects: BranchEffects) {
  const plan = yield* (yield* Workspace).plan
  yield* effects.plan(plan)
  const changes = netChanges(plan.changes)
  return { changes, diff: yield* diffOfEffects(plan, changes, effects) }
})

const changedSince = (branch: string) =>
  toolError("stale_file", `branch '${branch}' has changed since it was shown; nothing was merged`, {
    suggestion: "Merge it again, to see what it changes now.",
    details: { branch }
  })
