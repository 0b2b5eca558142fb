import { defineTool } from "@haft/core"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { commandLine, git } from "../git.ts"
import { online, reference, remote, remoteTouches } from "../remote.ts"

export const gitPush = defineTool({
  name: "git_push",
  description: "Push a branch to a remote over https. A push that would lose commits is refused unless it is forced.",
  input: z.strictObject({
    remote: remote.default("origin").describe("Name of the remote, or its https:// URL"),
    branch: reference.default("HEAD").describe("Branch or tag to push; the current branch by default"),
    to: reference.optional().describe("Name on the remote, if it differs"),
    force: z.boolean().default(false).describe("Replace the remote branch, if nobody has pushed since the last fetch")
  }),
  output: z.object({
    remote: z.string(),
    updates: z.array(z.object({ flag: z.string(), reference: z.string(), summary: z.string() }))
  }),
  risk: "dangerous",
  openWorld: true,
  asks: true,
  touches: (input) => remoteTouches({ runs: commandLine(...wordsOf(input)), writes: [".git"] }),
  execute: Effect.fnUntraced(function* (input) {
    const printed = yield* git({ args: wordsOf(input), ...online })
    return { remote: input.remote, updates: updatesIn(printed) }
  }),
  render: ({ remote, updates }) =>
    updates.map(({ reference, summary }) => `${remote}: ${reference} ${summary}`).join("\n")
})

interface Push {
  readonly remote: string
  readonly branch: string
  readonly to?: string | undefined
  readonly force: boolean
}

const wordsOf = ({ remote, branch, to, force }: Push): ReadonlyArray<string> => [
  "push",
  "--porcelain",
  ...(force ? ["--force-with-lease"] : []),
  remote,
  to === undefined ? branch : `${branch}:${to}`
]

// `*\trefs/heads/a:refs/heads/a\t[new branch]`
const updatesIn = (printed: string) =>
  printed.split("\n").flatMap((line) => {
    const [flag, reference, summary] = line.split("\t")
    return flag !== undefined && reference !== undefined && summary !== undefined ? [{ flag, reference, summary }] : []
  })
