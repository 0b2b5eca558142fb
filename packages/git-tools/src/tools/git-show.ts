import { defineTool } from "@haft/core"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { commandLine, git } from "../git.ts"
import { revision } from "../parameters.ts"
import { diffWithoutSecrets, refuseContent, refuseSecret, secretNote } from "../secret-files.ts"

const wordsOf = (input: { revision: string; path?: string | undefined }): ReadonlyArray<string> => [
  "show",
  "--no-ext-diff",
  "--no-textconv",
  input.path === undefined ? input.revision : `${input.revision}:${input.path}`
]

export const gitShow = defineTool({
  name: "git_show",
  description: "A commit with its diff, or a file as it was at a revision.",
  input: z.strictObject({
    revision: revision.default("HEAD").describe("The commit"),
    path: z.string().min(1).optional().describe("A file: its content at that revision, in place of the commit")
  }),
  output: z.object({
    content: z.string(),
    secret_files: z.array(z.string()).optional().describe("Files of the commit whose content is secret and left out")
  }),
  risk: "read_only",
  touches: (input) => ({ reads: [input.path ?? "."], runs: commandLine(...wordsOf(input)) }),
  execute: Effect.fnUntraced(function* (input) {
    yield* refuseContent(input.revision)
    if (input.path !== undefined) {
      yield* refuseSecret(input.path)
      return { content: yield* git({ args: wordsOf(input) }) }
    }
    const { diff, ...more } = yield* diffWithoutSecrets({ args: wordsOf(input) })
    return { content: diff, ...more }
  }),
  render: ({ content, secret_files }) => `${content}${secretNote(secret_files)}`
})
