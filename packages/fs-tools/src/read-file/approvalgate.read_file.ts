import { toolError } from "@haft/core"
import { approvalgate } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { readBytes, readLines } from "./read-file.ts"

export const approvalgateReadFile = approvalgate.tool({
  name: "read_file",
  operation: "read-file",
  description: "Read a whole file of the workspace, as text or as base64.",
  input: z.strictObject({
    path: z.string().describe("File, relative to the workspace"),
    encoding: z.enum(["utf-8", "base64"]).default("utf-8").describe("base64 for files that are not text")
  }),
  output: z.object({ content: z.string(), size: z.number(), modified: z.string() }),
  risk: "read_only",
  timeout: "30 seconds",
  touches: ({ path }) => ({ reads: [path] }),
  execute: Effect.fnUntraced(function* ({ path, encoding }) {
    if (encoding === "base64") {
      const { content, info } = yield* readBytes(path)
      return { content: Buffer.from(content).toString("base64"), ...about(info) }
    }
    const { text, cutByBytes, info } = yield* readLines(path)
    if (cutByBytes) {
      return yield* toolError("file_too_large", `${path} has ${info.size} bytes, too many for one answer`, {
        suggestion: "Search it, or have a command print the part that matters.",
        details: { path, size: info.size }
      })
    }
    return { content: text, ...about(info) }
  }),
  render: ({ content }) => content
})

const about = ({ size, modified }: { readonly size: number; readonly modified: number }) => ({
  size,
  modified: new Date(modified).toISOString()
})
