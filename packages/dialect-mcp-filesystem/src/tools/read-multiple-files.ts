import { singleLine, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { locate } from "../allowed-directories.ts"
import { mcpFilesystem } from "../dialect.ts"
import { wholeText } from "./read-text.ts"

const input = z.strictObject({
  paths: z.array(z.string()).min(1).describe("Files, absolute or relative to the first allowed directory")
})

export const readMultipleFiles = mcpFilesystem.tool({
  name: "read_multiple_files",
  operation: "read-file",
  description:
    "Read several text files. Each stands below its path, with `---` between them; one that can't be read is answered " +
    "with the reason, and the others are read all the same.",
  input,
  output: z.strictObject({ content: z.string() }),
  risk: "read_only",
  timeout: "60 seconds",
  // A path that leads out is answered beside the others, so only those inside are touched.
  touches: Effect.fnUntraced(function* ({ paths }) {
    const workspace = yield* Workspace
    const reads: Array<string> = []
    for (const path of paths) {
      const inside = Effect.flatMap(locate(path), (located) => workspace.contain(located.path))
      const found = yield* Effect.result(inside)
      if (found._tag === "Success") reads.push(found.success)
    }
    return { reads }
  }),
  execute: ({ paths }) =>
    Effect.forEach(paths, (path) =>
      Effect.match(wholeText(path), {
        onFailure: ({ message }) => `${singleLine(path)}: Error - ${message}`,
        onSuccess: (text) => `${singleLine(path)}:\n${text}\n`
      })
    ).pipe(Effect.map((parts) => ({ content: parts.join("\n---\n") }))),
  render: ({ content }) => content
})
