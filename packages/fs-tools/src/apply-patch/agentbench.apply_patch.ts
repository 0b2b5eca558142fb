import { Artifacts, CurrentCall, Journal, singleLine } from "@haft/core"
import { agentbench } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { BinaryPatches } from "../settings.ts"
import { patchOperation } from "./apply-patch.ts"
import { parseUnifiedDiff } from "./parse/parse-unified-diff.ts"
import { isOfFile, touchedBy } from "./patch.ts"
import { readOnce } from "./place/read-once.ts"

// The example of the contract counts two lines of context that it leaves out, and its `patch` knows no binary patches.
const read = readOnce((input: { readonly unified_diff: string }) =>
  parseUnifiedDiff(input.unified_diff, { mayLackContext: true }).pipe(Effect.provideService(BinaryPatches, "refuse"))
)
const operation = patchOperation(read)

export const agentbenchApplyPatch = agentbench.tool({
  name: "apply_patch",
  operation: "apply-patch",
  description: "Apply a unified diff to the workspace: all of its files, or none when one does not fit.",
  input: z.strictObject({
    unified_diff: z.string().describe("The diff, as `git diff` prints it; paths are relative to the workspace")
  }),
  output: z.object({ changed_files: z.array(z.string()), patch_size_bytes: z.number() }),
  risk: "dangerous",
  timeout: "10 seconds",
  touches: (input) => Effect.map(read(input), touchedBy),
  preview: (input) => Effect.map(operation.preview(input), ({ diff }) => diff),
  execute: Effect.fnUntraced(function* (input) {
    const { unified_diff } = input
    const { changes } = yield* operation.commit(input)
    const changed_files = changes.filter(isOfFile).map(({ path, movedTo }) => movedTo ?? path)
    const patch_size_bytes = Buffer.byteLength(unified_diff)
    const artifacts = yield* Artifacts
    const journal = yield* Journal
    const { id, step } = yield* CurrentCall
    const artifact = yield* artifacts.save(`diffs/step_${String(step).padStart(4, "0")}.patch`, unified_diff)
    yield* journal.append({ type: "PATCH_APPLIED", request_id: id, step, changed_files, patch_size_bytes, artifact })
    return { changed_files, patch_size_bytes }
  }),
  render: ({ changed_files }) =>
    changed_files.length === 0 ? "The patch changes nothing" : `Patched ${changed_files.map(singleLine).join(", ")}`
})
