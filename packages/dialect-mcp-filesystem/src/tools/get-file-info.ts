import { Workspace } from "@haft/core"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { locate } from "../allowed-directories.ts"
import { mcpFilesystem } from "../dialect.ts"
import { inSystemWords } from "../system-errors.ts"

export const getFileInfo = mcpFilesystem.tool({
  name: "get_file_info",
  operation: "list-directory",
  description: "Size, times, permissions and kind of a file or directory.",
  input: z.strictObject({ path: z.string().describe("Path, absolute or relative to the first allowed directory") }),
  output: z.strictObject({ content: z.string() }),
  risk: "read_only",
  timeout: "60 seconds",
  touches: ({ path }) => Effect.map(locate(path), (located) => ({ reads: [located.path] })),
  execute: Effect.fnUntraced(function* ({ path }) {
    const located = yield* locate(path)
    const workspace = yield* Workspace
    const info = yield* inSystemWords({ call: "stat", path: located.absolute })(workspace.info(located.path))
    const time = (milliseconds: number): string => String(new Date(milliseconds))
    const facts = {
      size: info.size,
      created: time(info.created ?? info.modified),
      modified: time(info.modified),
      accessed: time(info.accessed ?? info.modified),
      isDirectory: info.kind === "directory",
      isFile: info.kind === "file",
      permissions: info.mode.toString(8).slice(-3)
    }
    const lines = Object.entries(facts).map(([name, value]) => `${name}: ${value}`)
    return { content: lines.join("\n") }
  }),
  render: ({ content }) => content
})
