import { defineTool } from "@haft/core"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { commandLine, git } from "../git.ts"
import { path, revision } from "../parameters.ts"
import { refuseSecret } from "../secret-files.ts"

interface Range {
  readonly revision: string
  readonly start_line: number
  readonly end_line?: number | undefined
}

const wordsOf = ({ revision, start_line, end_line }: Range): ReadonlyArray<string> => [
  "blame",
  "--line-porcelain",
  "--no-textconv",
  `-L${start_line},${end_line ?? start_line + 499}`,
  revision
]

export const gitBlame = defineTool({
  name: "git_blame",
  description: "Who last changed each line of a file, and in which commit. At most 500 lines at a time.",
  input: z.strictObject({
    path: path.describe("The file"),
    revision: revision.default("HEAD").describe("As it was at this revision"),
    start_line: z.number().int().min(1).default(1).describe("First line, counted from 1"),
    end_line: z.number().int().min(1).optional().describe("Last line; 500 lines when absent")
  }),
  output: z.object({
    lines: z.array(z.object({ line: z.number(), commit: z.string(), author: z.string(), text: z.string() }))
  }),
  risk: "read_only",
  touches: (input) => ({ reads: [input.path], runs: commandLine(...wordsOf(input), "--", input.path) }),
  execute: Effect.fnUntraced(function* (input) {
    yield* refuseSecret(input.path)
    return { lines: parseBlame(yield* git({ args: wordsOf(input), paths: [input.path] })) }
  }),
  render: ({ lines }) =>
    lines.map(({ line, commit, author, text }) => `${commit.slice(0, 10)} ${author} ${line}: ${text}`).join("\n")
})

// `git blame --line-porcelain`: for each line a header, some facts, and the line itself after a tab.
const parseBlame = (porcelain: string) =>
  porcelain.split(/^(?=[0-9a-f]{40} \d+ \d+)/m).flatMap((block) => {
    const header = /^([0-9a-f]{40}) \d+ (\d+)/.exec(block)
    if (header === null) return []
    const author = /^author (.*)$/m.exec(block)?.[1] ?? ""
    const text = /^\t(.*)$/m.exec(block)?.[1] ?? ""
    return [{ line: Number(header[2]), commit: header[1] ?? "", author, text }]
  })
