import { singleLine } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { planOnce } from "../plan-once.ts"
import { copiedPaths, planCopy } from "./copy-path.ts"

const input = z.strictObject({
  from: z.string().describe("Path, relative to the workspace"),
  to: z.string().describe("Path of the copy, name included"),
  overwrite: z.boolean().default(false).describe("Replace an existing file"),
  create_directories: z.boolean().default(true).describe("Create missing directories")
})

const operation = planOnce((plan, { create_directories, ...rest }: z.output<typeof input>) =>
  planCopy(plan, { ...rest, createDirectories: create_directories })
)

export const haftCopyPath = haft.tool({
  name: "copy_path",
  profile: "all",
  operation: "copy-path",
  description: "Copy a file, link or directory, byte for byte.",
  input,
  output: z.object({ from: z.string(), to: z.string(), files: z.number(), bytes: z.number() }),
  risk: "safe_write",
  timeout: "60 seconds",
  // Every path of the copy: one of them may have a protected name.
  touches: (call) => Effect.map(copiedPaths(call), (writes) => ({ reads: [call.from], writes })),
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: (call) => Effect.map(operation.commit(call), ({ result }) => ({ ...result })),
  render: ({ from, to, files, bytes }) =>
    singleLine(`Copied ${from} to ${to}: ${files} ${files === 1 ? "file" : "files"}, ${bytes} bytes`)
})
