import { resolve } from "node:path"

import { type ChangedPath, singleLine, type ToolError, Workspace } from "@haft/core"
import { parsePatch, patchOperation, type PatchSection, touchedBy } from "@haft/fs-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { codex, worded } from "../dialect.ts"
import { patchText, problemOfForm } from "../patch-form.ts"

const input = z.strictObject({
  input: z.string().describe("The patch, from *** Begin Patch to *** End Patch, with paths relative to the workspace")
})

type Call = z.output<typeof input>

const read = Effect.fnUntraced(function* ({ input: patch }: Call) {
  const problem = problemOfForm(patch)
  if (problem !== undefined) return yield* worded("patch_parse_error", `${problem}\n`)
  return yield* parsePatch(patchText(patch))
})

const operation = patchOperation(read)

export const applyPatch = codex.tool({
  name: "apply_patch",
  operation: "apply-patch",
  description:
    "Change files by sections written between *** Begin Patch and *** End Patch: all of them, or none. A hunk that fits " +
    "several places, and a file that would be overwritten, are refused.",
  input,
  output: z.object({ output: z.string() }),
  risk: "dangerous",
  timeout: "60 seconds",
  touches: (call) => Effect.map(read(call), touchedBy),
  preview: (call) => Effect.map(operation.preview(call).pipe(inPatchWords(call)), ({ diff }) => diff),
  execute: (call) =>
    Effect.map(operation.commit(call).pipe(inPatchWords(call)), ({ changes }) => ({ output: summaryOf(changes) })),
  render: ({ output }) => output
})

const summaryOf = (changes: ReadonlyArray<ChangedPath>): string => {
  const files = changes.filter(({ what }) => what !== "directory")
  const lines = files.map(({ path, kind, movedTo }) => `${letters[kind]} ${singleLine(movedTo ?? path)}\n`)
  return `Success. Updated the following files:\n${lines.toSorted(byLetter).join("")}`
}

const letters = { created: "A", modified: "M", moved: "M", deleted: "D" } as const
const byLetter = (one: string, other: string): number => "AMD".indexOf(one.charAt(0)) - "AMD".indexOf(other.charAt(0))

/** Words failures of a patch as Codex does. Others keep haft's words. */
const inPatchWords =
  (call: Call) =>
  <A, Code extends ToolError["code"], R>(
    operation: Effect.Effect<A, ToolError<Code>, R>
  ): Effect.Effect<A, ToolError<Code>, R | Workspace> =>
    operation.pipe(
      Effect.catch(
        Effect.fnUntraced(function* (error) {
          const { root } = yield* Workspace
          const sections = yield* Effect.orElseSucceed(read(call), (): ReadonlyArray<PatchSection> => [])
          return yield* inCodexWords(error, sections, root)
        })
      )
    )

const inCodexWords = <Code extends ToolError["code"]>(
  error: ToolError<Code>,
  sections: ReadonlyArray<PatchSection>,
  root: string
): ToolError<Code> => {
  const path = typeof error.details?.["path"] === "string" ? error.details["path"] : ""
  const shown = singleLine(resolve(root, path))
  const section = sections.find((one) => one.path === path)
  if (error.code === "file_not_found") {
    return worded(
      error.code,
      section?.kind === "delete"
        ? `Failed to delete file ${shown}\n`
        : `Failed to read file to update ${shown}: No such file or directory (os error 2)\n`
    )
  }
  if (error.code !== "patch_hunk_failed" || section?.kind !== "update") return error
  const hunk = section.hunks.find(({ patchLine }) => patchLine === error.details?.["patch_line"])
  const anchor = error.details?.["anchor"]
  if (typeof anchor === "string") return worded(error.code, `Failed to find context '${anchor}' in ${shown}\n`)
  if (hunk === undefined || error.details?.["lines"] !== undefined) return error
  const expected = hunk.lines.filter(({ sign }) => sign !== "+").map(({ text }) => text)
  return worded(error.code, `Failed to find expected lines in ${shown}:\n${expected.join("\n")}\n`)
}
