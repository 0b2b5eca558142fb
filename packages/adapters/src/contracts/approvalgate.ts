import { isToolError, type JsonSchema } from "@haft/core"
import type { OpenHost, PromiseCallOptions } from "@haft/core/promise"

/** approvalgate's library surface, as a view of a host that speaks it. */
export interface ApprovalgateTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema: JsonSchema
  readonly requiresApproval: boolean | ((args: unknown) => boolean | Promise<boolean>)
  readonly execute: (args: unknown) => Promise<ApprovalgateResult<unknown>>
}

export type ApprovalgateResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: ApprovalgateError }

export interface ApprovalgateError {
  readonly code: string
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>>
}

export interface ApprovalgateRequest {
  readonly stepId: string
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>>
  readonly reason: string
}

export interface ApprovalgateResponse {
  readonly approved: boolean
  readonly modifiedArgs?: Readonly<Record<string, unknown>>
}

export class ToolRegistry {
  readonly #tools = new Map<string, ApprovalgateTool>()

  register(tool: ApprovalgateTool): void {
    this.#tools.set(tool.name, tool)
  }

  get(name: string): ApprovalgateTool | undefined {
    return this.#tools.get(name)
  }

  list(): Array<ApprovalgateTool> {
    return [...this.#tools.values()]
  }

  toOpenAIFunctions(): Array<{ name: string; description: string; parameters: JsonSchema }> {
    return this.list().map(({ name, description, inputSchema }) => ({ name, description, parameters: inputSchema }))
  }
}

/** A registry with the host's tools. Questions go to `approve`; without it, to whom the host asks otherwise. */
export const toolRegistry = (
  host: Pick<OpenHost, "tools" | "call" | "preview">,
  approve?: (request: ApprovalgateRequest) => Promise<ApprovalgateResponse>
): ToolRegistry => {
  const options: PromiseCallOptions =
    approve === undefined
      ? {}
      : { ask: ({ call, input, reason }) => approve({ stepId: call.id, tool: call.tool, args: input, reason }) }
  const registry = new ToolRegistry()
  for (const { name, description, inputSchema, replySchema } of host.tools) {
    registry.register({
      name,
      description,
      inputSchema,
      outputSchema: ((replySchema["properties"] ?? {}) as Record<string, JsonSchema>)["value"] ?? {},
      requiresApproval: (args) => asksFor(host.preview(name, args)),
      execute: async (args) => (await host.call(name, args, options)).wire as ApprovalgateResult<unknown>
    })
  }
  return registry
}

// False for a call that will be refused before anybody is asked: it says why when it is made.
const asksFor = (preview: Promise<{ readonly asks: boolean }>): Promise<boolean> =>
  preview.then(
    ({ asks }) => asks,
    (cause: unknown) => {
      if (isToolError(cause)) return false
      throw cause
    }
  )
