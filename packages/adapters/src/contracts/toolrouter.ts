import type { JsonSchema } from "@haft/core"
import type { OpenHost, PromiseCallOptions } from "@haft/core/promise"

/** One tool of toolrouter's, as a module registers it. */
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
    this.#tools = new Map(sources.flat().map((tool) => [tool.name, tool]))
  }

  list(): ReadonlyArray<ToolRegistration> {
    return [...this.#tools.values()]
  }

  /** As strict function calling takes them. */
  schemas(): ReadonlyArray<{ name: string; description: string; parameters: JsonSchema; strict: true }> {
    return this.list().map(({ name, description, schema }) => ({ name, description, parameters: schema, strict: true }))
  }

  async dispatch(name: string, args: unknown, options?: PromiseCallOptions): Promise<unknown> {
    const tool = this.#tools.get(name)
    return tool === undefined
      ? { error: "unknown_tool", message: `there is no tool '${name}' here` }
      : tool.handler(args, options)
  }
}
