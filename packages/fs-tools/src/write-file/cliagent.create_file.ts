import { toolError, singleLine } from "@haft/core"
import { cliagent } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { planOnce } from "../plan-once.ts"
import { contentBytes, planWrite } from "./write-file.ts"

const maximumBytes = 10 * 1024 * 1024

const newFile = { createDirectories: true, mustBeNew: true }

export const cliagentCreateFile = cliagent.tool({
  name: "create_file",
  operation: "write-file",
  description: "Create a new file with the given content. Missing directories are made.",
  input: z.strictObject({
    path: z.string().describe("File to create, relative to the working directory"),
    content: z.string().describe("Content of the new file, at most 10MB")
  }),
  output: z.object({ output: z.string(), files_affected: z.array(z.string()) }),
  risk: "safe_write",
  timeout: "60 seconds",
  touches: ({ path }) => ({ writes: [path] }),
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: (call) =>
    Effect.map(operation.commit(call), ({ result: { path, size } }) => ({
      output: `Created file: ${singleLine(path)} (${size} bytes)`,
      files_affected: [path]
    })),
  render: ({ output }) => output,
  wording: {
    already_exists: (_error, { path }) => `File '${path}' already exists. Use replace_string_in_file to modify`,
    permission_denied: (_error, { path }) => `Cannot create file '${path}' - permission denied`
  }
})

const bytesOf = (path: string, content: string) =>
  contentBytes(content).pipe(
    Effect.filterOrElse(
      ({ length }) => length <= maximumBytes,
      ({ length }) =>
        toolError("file_too_large", `Content for '${path}' is larger than 10MB`, {
          suggestion: "Write less, or build the file in several steps.",
          details: { path, size: length }
        })
    )
  )

const operation = planOnce((plan, { path, content }: { readonly path: string; readonly content: string }) =>
  Effect.flatMap(bytesOf(path, content), (bytes) => planWrite(plan, path, bytes, newFile))
)
