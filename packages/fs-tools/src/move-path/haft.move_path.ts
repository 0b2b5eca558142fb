import { singleLine } from "@haft/core"
import { haft } from "@haft/dialects"
import * as z from "zod"

import { movePath, previewMove } from "./move-path.ts"

const input = z.strictObject({
  from: z.string().describe("What to move, relative to the workspace"),
  to: z.string().describe("Its new path, name included"),
  overwrite: z.boolean().default(false).describe("Take the place of a file that is there"),
  create_directories: z.boolean().default(true).describe("Make missing directories on the way")
})

const optionsOf = ({ create_directories, ...rest }: z.output<typeof input>) => ({
  ...rest,
  createDirectories: create_directories
})

export const haftMovePath = haft.tool({
  name: "move_path",
  operation: "move-path",
  description: "Move or rename a file, a link or a directory.",
  input,
  output: z.object({ from: z.string(), to: z.string() }),
  risk: "dangerous",
  timeout: "60 seconds",
  touches: ({ from, to }) => ({ removes: [from, to] }),
  preview: (call) => previewMove(optionsOf(call)),
  execute: (call) => movePath(optionsOf(call)),
  render: ({ from, to }) => singleLine(`Moved ${from} to ${to}`)
})
