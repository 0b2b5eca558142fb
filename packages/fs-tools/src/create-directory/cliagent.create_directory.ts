import { singleLine } from "@haft/core"
import { cliagent } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { planOnce } from "../plan-once.ts"
import { planDirectory } from "./create-directory.ts"

const operation = planOnce(planDirectory)

export const cliagentCreateDirectory = cliagent.tool({
  name: "create_directory",
  operation: "create-directory",
  description: "Create a directory, with its parents where they are missing.",
  input: z.strictObject({ path: z.string().describe("Directory to create, relative to the working directory") }),
  output: z.object({
    output: z.string(),
    files_affected: z.array(z.string()),
    metadata: z.object({ created_parents: z.array(z.string()) })
  }),
  risk: "safe_write",
  idempotent: true,
  timeout: "30 seconds",
  touches: ({ path }) => ({ writes: [path] }),
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: (call) =>
    Effect.map(operation.commit(call), ({ result: { path, created } }) => ({
      output:
        created.length === 0
          ? `Directory already exists: ${singleLine(path)}`
          : `Created directory: ${singleLine(path)}`,
      files_affected: created.length === 0 ? [] : [path],
      metadata: { created_parents: created.filter((made) => made !== path) }
    })),
  render: ({ output }) => output,
  wording: {
    already_exists: (_error, { path }) => `Path '${path}' exists as a file, cannot create directory`,
    not_a_directory: ({ details }, { path }) => {
      const file = typeof details?.["path"] === "string" ? details["path"] : path
      return `Path '${file}' exists as a file, cannot create directory`
    },
    permission_denied: () => "Cannot create directory - permission denied"
  }
})
