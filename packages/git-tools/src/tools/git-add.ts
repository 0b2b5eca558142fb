import { defineTool } from "@haft/core"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { commandLine, git } from "../git.ts"
import { paths } from "../parameters.ts"

export const gitAdd = defineTool({
  name: "git_add",
  description: "Stage files, deletions included, for the next commit.",
  input: z.strictObject({ paths: paths.min(1).describe("Files and directories to stage") }),
  output: z.object({ staged: z.array(z.string()) }),
  risk: "safe_write",
  idempotent: true,
  touches: (input) => ({
    reads: input.paths,
    writes: [".git"],
    runs: commandLine("add", "--all", "--", ...input.paths)
  }),
  execute: Effect.fnUntraced(function* (input) {
    yield* git({ args: ["add", "--all"], paths: input.paths, writes: true })
    const staged = yield* git({ args: ["diff", "--cached", "--name-only", "-z"] })
    return { staged: staged.split("\0").filter((path) => path !== "") }
  }),
  render: ({ staged }) => `Staged: ${staged.join(", ") || "nothing"}`
})
