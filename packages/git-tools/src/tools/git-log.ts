import { defineTool } from "@haft/core"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { commandLine, git } from "../git.ts"
import { paths, revision } from "../parameters.ts"

const format = "--format=%H%x1f%an%x1f%ae%x1f%aI%x1f%s%x1f%b%x1e"

const wordsOf = (input: { limit: number; revision: string }): ReadonlyArray<string> => [
  "log",
  `--max-count=${input.limit}`,
  format,
  input.revision
]

export const gitLog = defineTool({
  name: "git_log",
  description: "The commits that lead to a revision, newest first.",
  input: z.strictObject({
    revision: revision.default("HEAD").describe("Where to start, or a range as in v1..main"),
    limit: z.number().int().min(1).max(500).default(20).describe("At most so many commits"),
    paths: paths.default([]).describe("Only commits that change these")
  }),
  output: z.object({
    commits: z.array(
      z.object({
        id: z.string(),
        author: z.string(),
        email: z.string(),
        date: z.string(),
        subject: z.string(),
        body: z.string()
      })
    )
  }),
  risk: "read_only",
  touches: (input) => ({
    reads: input.paths.length > 0 ? input.paths : ["."],
    runs: commandLine(...wordsOf(input), "--", ...input.paths)
  }),
  execute: (input) =>
    Effect.map(git({ args: wordsOf(input), paths: input.paths }), (text) => ({
      commits: text.split("\x1e").flatMap(parseCommit)
    })),
  render: ({ commits }) =>
    commits
      .map(({ id, date, author, subject }) => `${id.slice(0, 10)} ${date.slice(0, 10)} ${author}: ${subject}`)
      .join("\n")
})

const parseCommit = (record: string) => {
  const [id, author, email, date, subject, body] = record.trimStart().split("\x1f")
  if (id === undefined || author === undefined || email === undefined || date === undefined) return []
  return [{ id, author, email, date, subject: subject ?? "", body: (body ?? "").trim() }]
}
