import type { OpenHost, PromiseCallOptions } from "@haft/core/promise"

/** agentbench's requests and results, as a view of a host that speaks it. */
export interface ToolRequest {
  readonly tool: string
  readonly params: Readonly<Record<string, unknown>>
  readonly request_id: string
}

export interface ToolResult {
  readonly request_id: string
  readonly tool: string
  readonly status: "success" | "error"
  /** ISO 8601, UTC. */
  readonly started_at: string
  readonly ended_at: string
  readonly duration_sec: number
  readonly data: Readonly<Record<string, unknown>> | null
  readonly error: ToolResultError | null
  readonly exit_code: number | null
  readonly stdout_path: string | null
  readonly stderr_path: string | null
}

export interface ToolResultError {
  readonly error_type: string
  readonly message: string
  readonly details: Readonly<Record<string, unknown>> | null
}

/** A function that makes the call of a request: `const handle = requestHandler(host)`. */
export const requestHandler =
  (host: Pick<OpenHost, "call">) =>
  async (request: ToolRequest, options: Omit<PromiseCallOptions, "requestId"> = {}): Promise<ToolResult> => {
    const { wire } = await host.call(request.tool, request.params, { ...options, requestId: request.request_id })
    return wire as ToolResult
  }
