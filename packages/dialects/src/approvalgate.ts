import { defineDialect, type Dialect, errorCodes } from "@haft/core"

import { inWords } from "./in-words.ts"

const errorNames: Readonly<Record<string, string>> = {
  ...Object.fromEntries(errorCodes.map((code) => [code, code.toUpperCase()])),
  path_outside_workspace: "INVALID_PATH",
  symlink_blocked: "INVALID_PATH",
  command_failed: "EXECUTION_ERROR",
  command_not_found: "EXECUTION_ERROR",
  sandbox_unavailable: "EXECUTION_ERROR",
  sandbox_error: "EXECUTION_ERROR"
}

/** The approvalgate contract: `{ ok: true, value }` or `{ ok: false, error }`, codes in capitals. */
export const approvalgate: Dialect<"approvalgate"> = defineDialect({
  name: "approvalgate",
  symlinks: "inside",
  asks: (risk) => risk === "dangerous",
  errorNames,
  success: ({ output }) => ({ ok: true, value: output }),
  failure: ({ error, errorName }) => ({
    ok: false,
    error: {
      code: errorName,
      message: inWords(error),
      ...(error.details !== undefined && { details: error.details })
    }
  }),
  envelope: (output) => ({
    type: "object",
    properties: {
      ok: { type: "boolean" },
      value: output,
      error: {
        type: "object",
        properties: { code: { type: "string" }, message: { type: "string" }, details: { type: "object" } },
        required: ["code", "message"]
      }
    },
    required: ["ok"]
  })
})
