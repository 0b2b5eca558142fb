import * as z from "zod"

/**
 * What the MCP SDK takes from the machine it runs on. Its own choice for checking a client's answers is a compiler of
 * JSON Schemas that weighs as much as the rest of it; zod is here already and reads the same schemas.
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
