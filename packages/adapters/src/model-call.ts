import type { Reply, ToolDescription } from "@haft/core"

export interface ModelOptions {
  /** Text of a reply for the model: the dialect's envelope as JSON by default. */
  readonly content?: (reply: Reply) => string
  /**
   * Give the API all tools, those that the host's profile defers with `defer_loading`. For requests with the API's own
   * tool search; `find_tools` is left out. Otherwise deferred tools are given once `find_tools` has found them.
   */
  readonly deferLoading?: boolean
}

/** Options of an API in which programs that the model writes can call tools. */
export interface CallerOptions<Caller extends string> {
  /** Callers that may use a tool, `direct` being the model itself; undefined leaves it to the API. */
  readonly allowedCallers?: (tool: ToolDescription) => Array<Caller> | undefined
}

/** The fields of an API's tool that both OpenAI and Anthropic have, where they say anything. */
export const sharedFields = <Caller extends string>(
  tool: ToolDescription,
  { deferLoading, allowedCallers }: ModelOptions & CallerOptions<Caller>
): { defer_loading?: boolean; allowed_callers?: Array<Caller> } => {
  const callers = allowedCallers?.(tool)
  return {
    ...(deferLoading === true && tool.deferred === true && { defer_loading: true }),
    ...(callers !== undefined && { allowed_callers: callers })
  }
}

export const contentOf = (reply: Reply, { content = envelope }: ModelOptions): string => content(reply)

const envelope = ({ wire }: Reply): string => JSON.stringify(wire)

/**
 * Reads arguments as a model wrote them. Text that is not JSON is passed on as it is: the host refuses it, on record.
 * Some APIs that are compatible with OpenAI's send an object instead of text, or nothing at all.
 */
export const parseArguments = (written: unknown): unknown => {
  if (typeof written !== "string") return written ?? {}
  if (written.trim() === "") return {}
  try {
    return JSON.parse(written) as unknown
  } catch {
    return written
  }
}
