import { Workspace, singleLine } from "@haft/core"
import { filetools } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { listInOrder, listMatching, withInfo } from "./list-directory.ts"

export const filetoolsFileList = filetools.tool({
  name: "file.list",
  operation: "list-directory",
  description: "List the files of a directory, or those at any depth that match a pattern.",
  input: z.strictObject({
    path: z.string().default(".").describe("Directory, relative to the workspace"),
    pattern: z.string().optional().describe("Glob that files must match, relative to path: *.py, **/*.ts")
  }),
  output: z.object({
    files: z.array(z.object({ path: z.string(), size: z.number(), modified: z.string() }))
  }),
  risk: "read_only",
  timeout: "30 seconds",
  touches: ({ path }) => ({ reads: [path] }),
  execute: Effect.fnUntraced(function* ({ path, pattern }) {
    const workspace = yield* Workspace
    const directory = yield* workspace.contain(path)
    const names = pattern === undefined ? yield* ownFiles(path) : (yield* listMatching(path, pattern)).paths
    const described = yield* withInfo(path, names)
    return {
      files: described.map(({ path: name, info: { size, modified } }) => ({
        path: directory === "." ? name : `${directory}/${name}`,
        size,
        modified: new Date(modified).toISOString()
      }))
    }
  }),
  render: ({ files }) => files.map((file) => singleLine(file.path)).join("\n")
})

const ownFiles = (path: string) =>
  Effect.map(listInOrder(path, { include: ({ kind }) => kind === "file" }), ({ entries }) =>
    entries.map((entry) => entry.path)
  )
