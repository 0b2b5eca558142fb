import { singleLine } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { planOnce } from "../plan-once.ts"
import { planMove } from "./move-path.ts"

const input = z.strictObject({
  from: z.string().describe("Path, relative to the workspace"),
  to: z.string().describe("New path, name included"),
  overwrite: z.boolean().default(false).describe("Replace an existing file"),
  create_directories: z.boolean().default(true).describe("Create missing directories")
})

const operation = planOnce((plan, { create_directories, ...rest }: z.output<typeof input>) =>
  planMove(plan, { ...rest, createDirectories: create_directories })
)

export const haftMovePath = haft.tool({
  name: "move_path",
  profile: "coding",
  operation: "move-path",
  description: "Move or rename a file, link or directory.",
  input,
  output: z.object({ from: z.string(), to: z.string() }),
  risk: "dangerous",
  timeout: "60 seconds",
  touches: ({ from, to }) => ({ removes: [from, to] }),
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: (call) => Effect.map(operation.commit(call), ({ result: { from, to } }) => ({ from, to })),
  render: ({ from, to }) => singleLine(`Moved ${from} to ${to}`)
})
