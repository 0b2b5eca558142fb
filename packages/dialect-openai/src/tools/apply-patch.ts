import { type ChangedPath, singleLine, toolError } from "@haft/core"
import { parsePatch, patchOperation, type PatchSection, touchedBy } from "@haft/fs-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { openai } from "../dialect.ts"

const input = z.strictObject({
  operation: z
    .strictObject({
      type: z.enum(["create_file", "update_file", "delete_file"]).describe("What becomes of the file"),
      path: z.string().describe("File, relative to the workspace"),
      diff: z.string().optional().describe("Lines of the change, without headers of files; not for delete_file")
    })
    .describe("One file to create, update or delete")
})

type Call = z.output<typeof input>

const headers = { create_file: "Add", update_file: "Update", delete_file: "Delete" } as const
const kinds = { create_file: "add", update_file: "update", delete_file: "delete" } as const

/** Reads the change of one file. Its path is put in afterwards, so that it can't be read as a line of the patch. */
const read = Effect.fnUntraced(function* ({ operation: { type, path, diff = "" } }: Call) {
  const lines = type === "delete_file" || diff === "" ? "" : `${diff.replace(/\n$/, "")}\n`
  const sections = yield* parsePatch(`*** Begin Patch\n*** ${headers[type]} File: file\n${lines}*** End Patch`)
  const [section] = sections
  const isOne = sections.length === 1 && section?.kind === kinds[type]
  if (!isOne || (section.kind === "update" && section.target !== undefined)) {
    return yield* toolError("patch_parse_error", "the diff has headers of files; nothing was changed", {
      suggestion: "Send one operation for each file, with the lines of its change only."
    })
  }
  return [{ ...section, path }] satisfies ReadonlyArray<PatchSection>
})

const operation = patchOperation(read)

export const applyPatch = openai.tool({
  name: "apply_patch",
  operation: "apply-patch",
  description:
    "Create, update or delete one file. A hunk that fits several places, and a file that would be overwritten, are refused.",
  input,
  output: z.object({ status: z.literal("completed"), output: z.string() }),
  risk: "dangerous",
  timeout: "60 seconds",
  touches: (call) => Effect.map(read(call), touchedBy),
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: (call) =>
    Effect.map(operation.commit(call), ({ changes }) => ({ status: "completed" as const, output: summaryOf(changes) })),
  render: ({ output }) => output
})

const verbs = { created: "Created", modified: "Updated", moved: "Moved", deleted: "Deleted" } as const

const summaryOf = (changes: ReadonlyArray<ChangedPath>): string =>
  changes
    .filter(({ what }) => what !== "directory")
    .map(({ path, kind }) => `${verbs[kind]} ${singleLine(path)}`)
    .join("\n")
