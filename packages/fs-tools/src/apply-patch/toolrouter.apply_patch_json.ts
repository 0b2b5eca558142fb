import { toolrouter } from "@haft/dialects"
import * as Effect from "effect/Effect"

import { insideOnly } from "../inside-only.ts"
import { parsePatch, previewPatch } from "./apply-patch.ts"
import { touchedBy } from "./patch.ts"
import { patchInput, patchOutput, patchResults, renderResults } from "./toolrouter-patch.ts"

export const toolrouterApplyPatchJson = toolrouter.tool({
  name: "apply_patch_json",
  description: "Change files by a unified diff or a *** Begin Patch envelope: all of them, or none.",
  input: patchInput,
  output: patchOutput,
  risk: "dangerous",
  timeout: "60 seconds",
  touches: ({ patch }) => Effect.flatMap(parsePatch(patch), (sections) => insideOnly(touchedBy(sections))),
  preview: ({ patch }) => Effect.flatMap(parsePatch(patch), previewPatch),
  execute: ({ patch }) => Effect.flatMap(parsePatch(patch), patchResults),
  render: renderResults
})
