import { singleLine } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { linkWarnings } from "../hard-links.ts"
import { omissionWarnings } from "../matching/omissions.ts"
import { describeHunk, parsePatch, patchOperation } from "./apply-patch.ts"
import { envelopeWithin } from "./parse/parse-envelope.ts"
import { isOfFile, type PatchSection, touchedBy } from "./patch.ts"
import { readOnce } from "./place/read-once.ts"
import type { FoundHunk } from "./plan-patch.ts"

// The output of `git diff` where nothing differs is a patch that changes nothing.
const read = readOnce(({ patch }: { readonly patch: string }) =>
  patch.trim() === "" ? Effect.succeed([]) : parsePatch(envelopeWithin(patch) ?? patch)
)
const operation = patchOperation(read)

export const haftApplyPatch = haft.tool({
  name: "apply_patch",
  profile: "coding",
  operation: "apply-patch",
  description: "Apply a patch to any number of files, all or nothing. Ambiguous hunks are refused.",
  input: z.strictObject({
    patch: z.string().describe("Unified diff, or *** Begin Patch … *** End Patch")
  }),
  output: z.object({
    changed: z.boolean(),
    files: z.array(
      z.object({
        path: z.string(),
        change: z.enum(["created", "modified", "deleted", "moved"]),
        moved_to: z.string().optional(),
        bytes_written: z.number(),
        fingerprint: z.string()
      })
    ),
    hunks: z.array(
      z.object({
        path: z.string(),
        line: z.number(),
        matched: z.string(),
        offset: z.number(),
        fuzz: z.number()
      })
    ),
    warnings: z.array(z.string())
  }),
  examples: [
    { patch: "--- a/src/app.ts\n+++ b/src/app.ts\n@@ -1 +1 @@\n-const port = 80\n+const port = 8080\n" },
    { patch: "*** Begin Patch\n*** Add File: docs/notes.md\n+# Notes\n*** End Patch\n" }
  ],
  risk: "dangerous",
  timeout: "60 seconds",
  touches: (input) => Effect.map(read(input), touchedBy),
  preview: (input) => Effect.map(operation.preview(input), ({ diff }) => diff),
  execute: Effect.fnUntraced(function* (input) {
    const sections = yield* read(input)
    const { changes, result: hunks } = yield* operation.commit(input)
    return {
      changed: changes.length > 0,
      files: changes.filter(isOfFile).map(({ path, kind, movedTo, bytesWritten, after }) => {
        const file = { path, change: kind, bytes_written: bytesWritten, fingerprint: after }
        return movedTo === undefined ? file : Object.assign(file, { moved_to: movedTo })
      }),
      hunks: hunks.map(({ path, line, pass, offset, fuzz }) => ({ path, line, matched: pass, offset, fuzz })),
      warnings: [
        ...(envelopeWithin(input.patch) === undefined ? [] : ["the text around the patch was left out"]),
        ...hunks.filter(isWorthTelling).map(describeHunk),
        ...linkWarnings(changes),
        ...omissionWarnings(addedText(sections), "")
      ]
    }
  }),
  render: ({ files, warnings }) =>
    [
      ...(files.length === 0 ? ["The patch changes nothing"] : []),
      ...files.map(({ path, change, moved_to }) =>
        singleLine(`${change} ${path}${moved_to === undefined ? "" : ` to ${moved_to}`}`)
      ),
      ...warnings
    ].join("\n")
})

/** A hunk that went where it fits, and not plainly where it belongs. */
const isWorthTelling = ({ pass, fuzz, warning }: FoundHunk): boolean =>
  warning !== undefined || fuzz > 0 || !(pass === "exact" || pass === "line_endings")

const addedText = (sections: ReadonlyArray<PatchSection>): string =>
  sections
    .flatMap((section) => (section.kind === "add" ? section.lines : section.hunks.flatMap(({ lines }) => lines)))
    .filter(({ sign }) => sign === "+")
    .map(({ text }) => text)
    .join("\n")
