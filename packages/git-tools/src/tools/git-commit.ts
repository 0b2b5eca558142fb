import { defineTool } from "@haft/core"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { commandLine, git } from "../git.ts"

export const gitCommit = defineTool({
  name: "git_commit",
  description: "Commit what is staged. Nothing is pushed.",
  input: z.strictObject({ message: z.string().trim().min(1).max(20_000).describe("The commit's message") }),
  output: z.object({ commit: z.string(), branch: z.string() }),
  risk: "safe_write",
  touches: ({ message }) => ({ reads: ["."], writes: [".git"], runs: commandLine("commit", "--message", message) }),
  execute: Effect.fnUntraced(function* ({ message }) {
    yield* git({ args: ["commit", "--quiet", "--no-gpg-sign", "--file=-"], stdin: message, writes: true })
    const commit = yield* git({ args: ["rev-parse", "HEAD"] })
    const branch = yield* git({ args: ["rev-parse", "--abbrev-ref", "HEAD"] })
    return { commit: commit.trim(), branch: branch.trim() }
  }),
  render: ({ commit, branch }) => `Committed ${commit.slice(0, 10)} on ${branch}`
})
