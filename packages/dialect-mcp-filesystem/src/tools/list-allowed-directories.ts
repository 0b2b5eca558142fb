import { Workspace } from "@haft/core"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { mcpFilesystem } from "../dialect.ts"

export const listAllowedDirectories = mcpFilesystem.tool({
  name: "list_allowed_directories",
  operation: "list-directory",
  description: "The directories that can be read and changed, with everything below them.",
  input: z.strictObject({}),
  output: z.strictObject({ content: z.string() }),
  risk: "read_only",
  execute: () =>
    Effect.map(Workspace, ({ roots }) => ({
      content: ["Allowed directories:", ...roots.map(({ path }) => path)].join("\n")
    })),
  render: ({ content }) => content
})
