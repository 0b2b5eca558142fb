import { defineTool } from "@haft/core"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { commandLine, git } from "../git.ts"
import { revision } from "../parameters.ts"

export const gitBranch = defineTool({
  name: "git_branch",
  description: "Make a branch and switch to it, or switch to one that is there. Changes that are not committed stay.",
  input: z.strictObject({
    name: revision.describe("The branch"),
    from: revision.optional().describe("Make it, starting here; without this the branch must exist")
  }),
  output: z.object({ branch: z.string(), commit: z.string() }),
  risk: "safe_write",
  touches: (input) => ({ reads: ["."], writes: ["."], runs: commandLine(...wordsOf(input)) }),
  execute: Effect.fnUntraced(function* (input) {
    yield* git({ args: wordsOf(input), writes: true })
    const commit = yield* git({ args: ["rev-parse", "HEAD"] })
    return { branch: input.name, commit: commit.trim() }
  }),
  render: ({ branch, commit }) => `On ${branch} at ${commit.slice(0, 10)}`
})

const wordsOf = ({ name, from }: { name: string; from?: string | undefined }): ReadonlyArray<string> =>
  from === undefined ? ["switch", "--quiet", name] : ["switch", "--quiet", "--create", name, from]
