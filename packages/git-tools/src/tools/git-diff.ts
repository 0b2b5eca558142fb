import { defineTool } from "@haft/core"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { commandLine } from "../git.ts"
import { paths, revision } from "../parameters.ts"
import { diffWithoutSecrets, refuseContent, secretNote } from "../secret-files.ts"

const wordsOf = ({ staged, against }: { staged: boolean; against?: string | undefined }): ReadonlyArray<string> => [
  "diff",
  "--no-ext-diff",
  "--no-textconv",
  // Repositories within this one have a configuration of their own, and git would work under it.
  "--ignore-submodules=dirty",
  ...(staged ? ["--cached"] : []),
  ...(against === undefined ? [] : [against])
]

export const gitDiff = defineTool({
  name: "git_diff",
  description: "Changes as a unified diff: of the files against the index, of the index, or against a revision.",
  input: z.strictObject({
    staged: z.boolean().default(false).describe("What would be committed, in place of what is not staged yet"),
    against: revision.optional().describe("A revision or a range to compare with, as in main or main..HEAD"),
    paths: paths.default([]).describe("Only these files and directories")
  }),
  output: z.object({
    diff: z.string(),
    secret_files: z.array(z.string()).optional().describe("Changed files whose content is secret and left out")
  }),
  risk: "read_only",
  touches: (input) => ({
    reads: input.paths.length > 0 ? input.paths : ["."],
    runs: commandLine(...wordsOf(input), "--", ...input.paths)
  }),
  execute: Effect.fnUntraced(function* (input) {
    if (input.against !== undefined) yield* refuseContent(input.against)
    return yield* diffWithoutSecrets({ args: wordsOf(input), paths: input.paths, comparesFiles: true })
  }),
  render: ({ diff, secret_files }) => `${diff || "No differences."}${secretNote(secret_files)}`
})
