import { singleLine } from "@haft/core"
import { approvalgate } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { insideOnly } from "../inside-only.ts"
import { planOnce } from "../plan-once.ts"
import { type MovePathOptions, planMove } from "./move-path.ts"

const operation = planOnce((plan, call: Omit<MovePathOptions, "createDirectories">) =>
  planMove(plan, { ...call, createDirectories: false })
)

export const approvalgateMoveFile = approvalgate.tool({
  name: "move_file",
  operation: "move-path",
  description: "Move or rename a file.",
  input: z.strictObject({
    from: z.string().describe("What to move, relative to the workspace"),
    to: z.string().describe("Its new path, name included"),
    overwrite: z.boolean().default(false).describe("Take the place of a file that is there")
  }),
  output: z.object({ from: z.string(), to: z.string() }),
  risk: "safe_write",
  asks: ({ writes }, { overwrite }) =>
    (overwrite && writes[1]?.exists === true) || writes.some(({ isProtected }) => isProtected),
  timeout: "60 seconds",
  touches: ({ from, to }) => insideOnly({ removes: [from, to] }),
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: (call) => Effect.map(operation.commit(call), ({ result: { from, to } }) => ({ from, to })),
  render: ({ from, to }) => singleLine(`Moved ${from} to ${to}`)
})
