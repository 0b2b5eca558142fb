import { defineTool } from "@haft/core"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { commandLine, git } from "../git.ts"

// Repositories within this one have a configuration of their own, and git would work under it.
const words = ["status", "--porcelain=v1", "--branch", "-z", "--untracked-files=all", "--ignore-submodules=dirty"]

export const gitStatus = defineTool({
  name: "git_status",
  description: "The branch, and the files that are changed, staged or untracked.",
  input: z.strictObject({}),
  output: z.object({
    branch: z.string(),
    is_clean: z.boolean(),
    files: z.array(
      z.object({ path: z.string(), staged: z.string(), unstaged: z.string(), moved_from: z.string().optional() })
    )
  }),
  risk: "read_only",
  touches: () => ({ reads: ["."], runs: commandLine(...words) }),
  execute: () => Effect.map(git({ args: words, comparesFiles: true }), parseStatus),
  render: ({ branch, is_clean, files }) =>
    [
      `On ${branch}${is_clean ? ", nothing changed" : ""}`,
      ...files.map((one) => `${one.staged}${one.unstaged} ${one.path}`)
    ].join("\n")
})

// Records end with NUL. After the record of a moved file comes one with its old path.
const parseStatus = (text: string) => {
  const [head = "", ...records] = text.split("\0")
  const files: Array<{ path: string; staged: string; unstaged: string; moved_from?: string }> = []
  for (let index = 0; index < records.length; index++) {
    const record = records[index] ?? ""
    if (record.length < 4) continue
    const [staged = " ", unstaged = " "] = record
    const isMoved = staged === "R" || staged === "C"
    const from = isMoved ? records[++index] : undefined
    files.push({ path: record.slice(3), staged, unstaged, ...(from !== undefined && { moved_from: from }) })
  }
  const branch = head.replace(/^## (No commits yet on )?/, "").split("...")[0] ?? ""
  return { branch, is_clean: files.length === 0, files }
}
