import { defineTool, toolError, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { commandLine, git } from "../git.ts"
import { path } from "../parameters.ts"
import { online, reference, remoteTouches } from "../remote.ts"

export const gitClone = defineTool({
  name: "git_clone",
  description: "Clone a repository over https into a new directory of the workspace. Submodules are not cloned.",
  input: z.strictObject({
    url: z
      .string()
      .max(2000)
      .regex(/^https?:\/\/[^\s@\0]+$/, "expected an https:// URL without credentials")
      .describe("https:// URL of the repository"),
    directory: path.describe("Directory to make, relative to the workspace"),
    branch: reference.optional().describe("Branch or tag to check out; the remote's default when absent"),
    depth: z.number().int().min(1).optional().describe("Only so many commits of the history")
  }),
  output: z.object({ directory: z.string(), branch: z.string(), commit: z.string() }),
  risk: "dangerous",
  openWorld: true,
  asks: true,
  touches: (input) => remoteTouches({ runs: commandLine(...wordsOf(input)), writes: [input.directory] }),
  execute: Effect.fnUntraced(function* (input) {
    const workspace = yield* Workspace
    const directory = yield* workspace.contain(input.directory)
    const found = yield* Effect.result(workspace.info(directory))
    if (found._tag === "Success") {
      return yield* toolError("already_exists", `${input.directory} exists already`, {
        suggestion: "Choose a directory that is not there.",
        details: { path: input.directory }
      })
    }
    yield* git({ args: wordsOf({ ...input, directory }), ...online })
    const commit = yield* git({ args: ["-C", directory, "rev-parse", "HEAD"] })
    const branch = yield* git({ args: ["-C", directory, "rev-parse", "--abbrev-ref", "HEAD"] })
    return { directory, branch: branch.trim(), commit: commit.trim() }
  }),
  render: ({ directory, branch, commit }) => `Cloned into ${directory}: ${branch} at ${commit.slice(0, 10)}`
})

interface Clone {
  readonly url: string
  readonly directory: string
  readonly branch?: string | undefined
  readonly depth?: number | undefined
}

const wordsOf = ({ url, directory, branch, depth }: Clone): ReadonlyArray<string> => [
  "clone",
  "--quiet",
  "--no-recurse-submodules",
  ...(branch === undefined ? [] : ["--branch", branch]),
  ...(depth === undefined ? [] : ["--depth", String(depth)]),
  "--",
  url,
  directory
]
