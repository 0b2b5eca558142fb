import { singleLine } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { planOnce } from "../plan-once.ts"
import { planDirectory } from "./create-directory.ts"

const operation = planOnce(planDirectory)

export const haftCreateDirectory = haft.tool({
  name: "create_directory",
  profile: "all",
  operation: "create-directory",
  description: "Create a directory and its parents.",
  input: z.strictObject({ path: z.string().describe("Directory, relative to the workspace") }),
  output: z.object({ path: z.string(), created: z.array(z.string()) }),
  risk: "safe_write",
  idempotent: true,
  timeout: "30 seconds",
  touches: ({ path }) => ({ writes: [path] }),
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: (call) =>
    Effect.map(operation.commit(call), ({ result: { path, created } }) => ({ path, created: [...created] })),
  render: ({ path, created }) =>
    created.length === 0 ? `${singleLine(path)} exists already` : `Created ${created.map(singleLine).join(", ")}`
})
