import { singleLine } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { createDirectory, previewDirectory } from "./create-directory.ts"

export const haftCreateDirectory = haft.tool({
  name: "create_directory",
  operation: "create-directory",
  description: "Make a directory and those on the way to it. One that exists is left as it is.",
  input: z.strictObject({ path: z.string().describe("Directory, relative to the workspace") }),
  output: z.object({ path: z.string(), created: z.array(z.string()) }),
  risk: "safe_write",
  idempotent: true,
  timeout: "30 seconds",
  touches: ({ path }) => ({ writes: [path] }),
  preview: ({ path }) => previewDirectory(path),
  execute: ({ path }) => Effect.map(createDirectory(path), (made) => ({ path: made.path, created: [...made.created] })),
  render: ({ path, created }) =>
    created.length === 0 ? `${singleLine(path)} exists already` : `Created ${created.map(singleLine).join(", ")}`
})
