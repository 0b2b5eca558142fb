import { defineDialect, type Dialect } from "@haft/core"

import { conciseSchema } from "./concise-schema.ts"

/**
 * haft's own contract: `{ ok: true, result }` or `{ ok: false, error }`, codes as the engine names them.
 * A failure that left something behind, such as a command's output, carries it as `result` too. Arguments with only one
 * possible meaning are taken although they do not fit, and `adjusted` says how.
 */
export const haft: Dialect<"haft"> = defineDialect({
  name: "haft",
  symlinks: "inside",
  asks: (risk) => risk !== "read_only",
  isLenient: true,
  clipsTexts: true,
  // Schemas of plugins and of other servers are published as they are.
  publishInput: (schema, tool) => (tool.dialect === "haft" ? conciseSchema(schema) : schema),
  hidesReplySchemas: true,
  // A command that exits with another code is a result for a model, and a failure for a shell.
  isSuccess: ({ exit_code }) => typeof exit_code !== "number" || exit_code === 0,
  success: ({ output, adjusted, shortened }) => ({
    ok: true,
    result: output,
    ...(shortened !== undefined && { shortened }),
    ...(adjusted.length > 0 && { adjusted })
  }),
  failure: ({ error, errorName, adjusted }) => ({
    ok: false,
    error: {
      code: errorName,
      message: error.message,
      ...(error.suggestion !== undefined && { suggestion: error.suggestion }),
      ...(error.details !== undefined && { details: error.details }),
      retryable: error.retryable ?? false
    },
    ...(error.output !== undefined && { result: error.output }),
    ...(adjusted.length > 0 && { adjusted })
  }),
  envelope: (output) => ({
    type: "object",
    properties: {
      ok: { type: "boolean" },
      result: output,
      shortened: { type: "object" },
      adjusted: { type: "array", items: { type: "string" } },
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
