import type { JsonSchema } from "@haft/core"
import type { OpenHost, PromiseCallOptions } from "@haft/core/promise"

import { fromStrict, strictSchema } from "../schemas/strict-schema.ts"

/** One tool, as modules of toolrouter register theirs. */
export interface ToolRegistration {
  readonly name: string
  readonly description: string
  readonly schema: JsonSchema
  readonly handler: (args: unknown, options?: PromiseCallOptions) => Promise<unknown>
}

/** The registrations of a host that speaks toolrouter. */
export const toolRegistrations = (host: Pick<OpenHost, "tools" | "call">): ReadonlyArray<ToolRegistration> =>
  host.tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    schema: inputSchema,
    handler: async (args, options) => (await host.call(name, args, options)).wire
  }))

/** Gathers registrations, shows their schemas and sends calls to them. */
export class ToolRouter {
  readonly #tools: ReadonlyMap<string, ToolRegistration>

  constructor(...sources: ReadonlyArray<ReadonlyArray<ToolRegistration>>) {
    const tools = new Map<string, ToolRegistration>()
    for (const tool of sources.flat()) {
      if (tools.has(tool.name)) throw new Error(`two tools are registered as '${tool.name}'; rename one of them`)
      tools.set(tool.name, tool)
    }
    this.#tools = tools
  }

  list(): ReadonlyArray<ToolRegistration> {
    return [...this.#tools.values()]
  }

  /** Each schema made strict, for strict function calling; where that is not possible, as it is. */
  schemas(): ReadonlyArray<{ name: string; description: string; parameters: JsonSchema; strict: boolean }> {
    return this.list().map(({ name, description, schema }) => {
      const strict = strictSchema(schema)
      return { name, description, parameters: strict ?? schema, strict: strict !== undefined }
    })
  }

  /** Takes arguments made for {@link schemas}: a null that only meant "left out" is left out. */
  async dispatch(name: string, args: unknown, options?: PromiseCallOptions): Promise<unknown> {
    const tool = this.#tools.get(name)
    if (tool === undefined) return { error: "unknown_tool", message: `unknown tool '${name}'` }
    const isStrict = strictSchema(tool.schema) !== undefined
    return tool.handler(isStrict ? fromStrict(args, tool.schema) : args, options)
  }
}
