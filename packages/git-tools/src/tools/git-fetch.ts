import { defineTool } from "@haft/core"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { commandLine, git } from "../git.ts"
import { online, reference, remote, remoteTouches } from "../remote.ts"

export const gitFetch = defineTool({
  name: "git_fetch",
  description: "Fetch branches and tags from a remote over https. Files of the workspace stay as they are.",
  input: z.strictObject({
    remote: remote.default("origin").describe("Name of the remote, or its https:// URL"),
    branch: reference.optional().describe("Only this branch; all by default"),
    prune: z.boolean().default(false).describe("Forget remote branches that are gone")
  }),
  output: z.object({ remote: z.string(), branches: z.array(z.object({ name: z.string(), commit: z.string() })) }),
  risk: "dangerous",
  openWorld: true,
  asks: true,
  touches: (input) => remoteTouches({ runs: commandLine(...wordsOf(input)), writes: [".git"] }),
  execute: Effect.fnUntraced(function* (input) {
    yield* git({ args: wordsOf(input), ...online })
    const listed = yield* git({ args: ["for-each-ref", "--format=%(refname:short) %(objectname)", "refs/remotes"] })
    const branches = listed.split("\n").flatMap((line) => {
      const [name, commit] = line.split(" ")
      return name !== undefined && commit !== undefined ? [{ name, commit }] : []
    })
    return { remote: input.remote, branches }
  }),
  render: ({ branches }) => branches.map(({ name, commit }) => `${name} at ${commit.slice(0, 10)}`).join("\n")
})

interface Fetch {
  readonly remote: string
  readonly branch?: string | undefined
  readonly prune: boolean
}

const wordsOf = ({ remote, branch, prune }: Fetch): ReadonlyArray<string> => [
  "fetch",
  "--quiet",
  "--no-recurse-submodules",
  ...(prune ? ["--prune"] : []),
  remote,
  ...(branch === undefined ? [] : [branch])
]
