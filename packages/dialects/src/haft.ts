import { defineDialect, type Dialect, type ErrorCode, errorCodes } from "@haft/core"

/**
 * haft's own contract: `{ ok: true, result }` or `{ ok: false, error }`, codes as the engine names them.
 * A failure that left something behind, such as a command's output, carries it as `result` too.
 */
export const haft: Dialect<"haft"> = defineDialect({
  name: "haft",
  symlinks: "inside",
  asks: (risk) => risk !== "read_only",
  errorNames: Object.fromEntries(errorCodes.map((code) => [code, code])) as Record<ErrorCode, ErrorCode>,
  success: ({ output }) => ({ ok: true, result: output }),
  failure: ({ error, errorName }) => ({
    ok: false,
    error: {
      code: errorName,
      message: error.message,
      ...(error.suggestion !== undefined && { suggestion: error.suggestion }),
      ...(error.details !== undefined && { details: error.details }),
      retryable: error.retryable ?? false
    },
    ...(error.output !== undefined && { result: error.output })
  }),
  envelope: (output) => ({
    type: "object",
    properties: {
      ok: { type: "boolean" },
      result: output,
      error: {
        type: "object",
        properties: {
          code: { type: "string" },
          message: { type: "string" },
          suggestion: { type: "string" },
          details: { type: "object" },
          retryable: { type: "boolean" }
        },
        required: ["code", "message", "retryable"]
      }
    },
    required: ["ok"]
  })
})
