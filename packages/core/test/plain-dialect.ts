import { defineDialect, type ErrorCode, errorCodes } from "../src/index.ts"

/** Says what a tool said, and of a failure all that there is to say. */
export const plainDialect = defineDialect({
  name: "plain",
  symlinks: "inside",
  asks: () => false,
  errorNames: Object.fromEntries(errorCodes.map((code) => [code, code])) as Record<ErrorCode, string>,
  success: ({ output }) => output,
  failure: ({ errorName, error: { message, details } }) => ({ error: errorName, message, details }),
  envelope: (output) => output
})
