import { toolrouter } from "@haft/dialects"
import * as Effect from "effect/Effect"

import { insideOnly } from "../inside-only.ts"
import { parsePatch, patchOperation } from "./apply-patch.ts"
import { touchedBy } from "./patch.ts"
import { readOnce } from "./place/read-once.ts"
import { patchInput, patchOutput, patchResults, renderResults } from "./toolrouter-patch.ts"

const read = readOnce(({ patch }: { readonly patch: string }) => parsePatch(patch))
const operation = patchOperation(read)

export const toolrouterApplyPatchJson = toolrouter.tool({
  name: "apply_patch_json",
  operation: "apply-patch",
  description: "Change files by a unified diff or a *** Begin Patch envelope: all of them, or none.",
  input: patchInput,
  output: patchOutput,
  risk: "dangerous",
  timeout: "60 seconds",
  touches: (input) => Effect.flatMap(read(input), (sections) => insideOnly(touchedBy(sections))),
  preview: (input) => Effect.map(operation.preview(input), ({ diff }) => diff),
  execute: (input) => Effect.map(operation.commit(input), patchResults),
  render: renderResults
})
