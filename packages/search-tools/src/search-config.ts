import { isAbsolute } from "node:path"

import * as z from "zod"

import { embeddingsConfig } from "./search-code/openai-embedder.ts"

// ripgrep is started in the workspace, where a relative path would name a program that any tool could put there.
const program = z.string().refine(isAbsolute, "has to be an absolute path")

/** Settings of a host for searches. */
export const searchConfig = z
  .strictObject({
    ripgrep: program.optional().describe("Absolute path of the ripgrep to use"),
    embeddings: embeddingsConfig
      .optional()
      .describe("Service that sees the query and the results of search_code and reranks them; none by default")
  })
  .optional()
