import { defineDialect, type Dialect, type ErrorCode } from "@haft/core"

import { inWords } from "./in-words.ts"

const errorNames = {
  symlink_blocked: "path_outside_workspace",
  match_not_found: "find_not_found",
  match_not_unique: "find_not_unique",
  search_unavailable: "ripgrep_not_found"
} satisfies Partial<Record<ErrorCode, string>>

/** The filetools contract: the documented object itself, or `{ error, message }`. */
export const filetools: Dialect<"filetools"> = defineDialect({
  name: "filetools",
  symlinks: "inside",
  asks: (risk) => risk !== "read_only",
  errorNames,
  success: ({ output }) => output,
  failure: ({ error, errorName, writes }) => ({
    // The contract knows one word for a write that did not happen, whatever the system's reason was.
    error: error.code === "permission_denied" && writes.length > 0 ? "write_failed" : errorName,
    message: inWords(error)
  }),
  envelope: (output) => ({
    type: "object",
    anyOf: [
      output,
      {
        type: "object",
        properties: { error: { type: "string" }, message: { type: "string" } },
        required: ["error", "message"]
      }
    ]
  })
})
