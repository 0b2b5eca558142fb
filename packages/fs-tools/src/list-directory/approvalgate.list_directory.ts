import { singleLine } from "@haft/core"
import { approvalgate } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { listInOrder, withInfo } from "./list-directory.ts"

export const approvalgateListDirectory = approvalgate.tool({
  name: "list_directory",
  operation: "list-directory",
  description: "List the files and directories in a directory, or everything below it.",
  input: z.strictObject({
    path: z.string().describe("Directory, relative to the workspace"),
    recursive: z.boolean().default(false).describe("Everything below it, at any depth"),
    includeHidden: z.boolean().default(false).describe("Names that begin with a dot, too")
  }),
  output: z.object({
    entries: z.array(
      z.object({
        name: z.string(),
        type: z.enum(["file", "directory", "symlink"]),
        size: z.number(),
        modified: z.string()
      })
    )
  }),
  risk: "read_only",
  timeout: "30 seconds",
  touches: ({ path }) => ({ reads: [path] }),
  execute: Effect.fnUntraced(function* ({ path, recursive, includeHidden }) {
    const { entries } = yield* listInOrder(path, {
      depth: recursive ? Number.POSITIVE_INFINITY : 0,
      include: ({ name, kind }) => kind !== "other" && (includeHidden || !name.startsWith("."))
    })
    const described = yield* withInfo(
      path,
      entries.map((entry) => entry.path)
    )
    return {
      entries: described.flatMap(({ path: name, info: { kind, size, modified } }) =>
        kind === "other" ? [] : [{ name, type: kind, size, modified: new Date(modified).toISOString() }]
      )
    }
  }),
  render: ({ entries }) =>
    entries.map(({ name, type }) => singleLine(type === "directory" ? `${name}/` : name)).join("\n")
})
