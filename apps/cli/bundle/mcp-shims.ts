import * as z from "zod"

/**
 * Takes the place of the module from which the MCP SDK imports what depends on the platform. The SDK checks the answers
 * of clients with a JSON Schema compiler that is as large as the rest of it; zod is loaded already, and reads them too.
 */
export class DefaultJsonSchemaValidator {
  getValidator(schema: Parameters<typeof z.fromJSONSchema>[0]) {
    const shape = z.fromJSONSchema(schema)
    return (input: unknown) => {
      const { success, data, error } = shape.safeParse(input)
      return success
        ? { valid: true, data, errorMessage: undefined }
        : { valid: false, data: undefined, errorMessage: z.prettifyError(error) }
    }
  }
}

export { default as process } from "node:process"
