import { singleLine } from "@haft/core"
import { agentbench } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { listFiles, listMatching } from "./list-directory.ts"

const maximumFiles = 1000

export const agentbenchListFiles = agentbench.tool({
  name: "list_files",
  operation: "list-directory",
  description: "List the files below a directory of the workspace, in order, at most 1000.",
  input: z.strictObject({
    root: z.string().default(".").describe("Directory to list, relative to the workspace"),
    glob: z.string().nullable().default(null).describe("Pattern that files must match, relative to root")
  }),
  output: z.object({ files: z.array(z.string()), truncated: z.boolean() }),
  risk: "read_only",
  timeout: "30 seconds",
  touches: ({ root }) => ({ reads: [root] }),
  execute: Effect.fnUntraced(function* ({ root, glob }) {
    if (glob === null) {
      const { files, truncated } = yield* listFiles(root, { limit: maximumFiles })
      return { files: [...files], truncated }
    }
    const { paths, total } = yield* listMatching(root, glob, { limit: maximumFiles })
    return { files: [...paths], truncated: total > paths.length }
  }),
  render: ({ files, truncated }) =>
    [...files.map(singleLine), ...(truncated ? ["[more files left out]"] : [])].join("\n")
})
