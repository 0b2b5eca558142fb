import { defineDialect } from "../src/index.ts"

/** A dialect for tests: a success is the output of the tool, a failure has the code, the message and the details. */
export const plainDialect = defineDialect({
  name: "plain",
  symlinks: "inside",
  asks: () => false,
  success: ({ output }) => output,
  failure: ({ errorName, error: { message, details } }) => ({ error: errorName, message, details }),
  envelope: (output) => output
})
