import { isToolError, type JsonSchema, type Risk } from "@haft/core"
import type { OpenHost, PromiseCallOptions } from "@haft/core/promise"

/** cliagent's universal interface, as a view of a host that speaks it. The working directory is the host's. */
export interface UniversalTool {
  readonly name: () => string
  readonly description: () => string
  readonly parametersSchema: () => JsonSchema
  /** Checks a call without making it, by the first steps of the road: undefined when it may be made. */
  readonly validate: (params: unknown) => Promise<UniversalToolError | undefined>
  readonly execute: (params: unknown, options?: PromiseCallOptions) => Promise<UniversalToolResult>
  readonly requiresApproval: () => boolean
  readonly riskLevel: () => Risk
}

export interface UniversalToolError {
  readonly code: string
  readonly message: string
  readonly suggestion: string
}

export interface UniversalToolResult {
  readonly success: boolean
  readonly output: string
  readonly files_affected: ReadonlyArray<string>
  readonly execution_time_ms: number
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly error?: UniversalToolError
}

export const universalTools = (
  host: Pick<OpenHost, "dialect" | "tools" | "call" | "preview">
): ReadonlyArray<UniversalTool> =>
  host.tools.map(({ name, description, inputSchema, risk }) => ({
    name: () => name,
    description: () => description,
    parametersSchema: () => inputSchema,
    validate: async (params) => {
      try {
        await host.preview(name, params)
        return undefined
      } catch (cause) {
        if (!isToolError(cause)) throw cause
        const { message, suggestion = "" } = cause
        return { code: host.dialect.errorNames[cause.code], message, suggestion }
      }
    },
    execute: async (params, options) => (await host.call(name, params, options)).wire as UniversalToolResult,
    requiresApproval: () => host.dialect.asks(risk),
    riskLevel: () => risk
  }))
