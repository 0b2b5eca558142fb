import { toolrouter } from "@haft/dialects"
import * as Effect from "effect/Effect"

import { insideOnly } from "../inside-only.ts"
import { previewPatch } from "./apply-patch.ts"
import { parseEnvelope } from "./parse-envelope.ts"
import { touchedBy } from "./patch.ts"
import { patchInput, patchOutput, patchResults, renderResults } from "./toolrouter-patch.ts"

export const toolrouterApplyPatchFreeform = toolrouter.tool({
  name: "apply_patch_freeform",
  description: "Change files by sections written between *** Begin Patch and *** End Patch: all of them, or none.",
  input: patchInput,
  output: patchOutput,
  risk: "dangerous",
  timeout: "60 seconds",
  touches: ({ patch }) => Effect.flatMap(parseEnvelope(patch), (sections) => insideOnly(touchedBy(sections))),
  preview: ({ patch }) => Effect.flatMap(parseEnvelope(patch), previewPatch),
  execute: ({ patch }) => Effect.flatMap(parseEnvelope(patch), patchResults),
  render: renderResults
})
