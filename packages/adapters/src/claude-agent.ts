import type { ApprovalQuestion } from "@haft/core"
import type { OpenHost, PromiseCallOptions } from "@haft/core/promise"

/** Answer to the Claude Agent SDK, as its `PermissionResult`. */
export type PermissionResult =
  | { behavior: "allow"; updatedInput: Record<string, unknown> }
  | { behavior: "deny"; message: string }

/** The Claude Agent SDK's `CanUseTool`, as far as haft needs it. */
export type CanUseTool = (
  tool: string,
  input: Record<string, unknown>,
  options: { readonly signal?: AbortSignal }
) => Promise<PermissionResult>

export interface CanUseToolOptions {
  /** Asks a person where the policy asks; without it such calls are denied. */
  readonly ask?: (question: Pick<ApprovalQuestion, "facts" | "input"> & ToolQuestion) => ReturnType<Asker>
  /** Name of the MCP server under which the SDK knows haft. */
  readonly server?: string
}

interface ToolQuestion {
  readonly tool: string
  readonly reason: string
  readonly diff?: string
}

type Asker = NonNullable<PromiseCallOptions["ask"]>

/**
 * `query({ options: { canUseTool: canUseTool(host) } })`: haft's policy and rules decide about the tools of a Claude agent,
 * on a host in the dialect `claude-code`. Tools of haft's own MCP server are allowed: the host decides about them when
 * they are called. Tools that the host does not know are denied.
 */
export const canUseTool = (
  host: Pick<OpenHost, "preview" | "tools">,
  { ask, server = "haft" }: CanUseToolOptions = {}
): CanUseTool => {
  const known = new Set(host.tools.map(({ name }) => name))
  return async (tool, input) => {
    const allowed = { behavior: "allow", updatedInput: input } as const
    if (tool.startsWith(`mcp__${server}__`)) return allowed
    if (!known.has(tool)) return { behavior: "deny", message: `${tool} is no tool of this host` }
    const preview = await host.preview(tool, input).catch((cause: unknown) => cause as Error)
    if (!("verdict" in preview)) return { behavior: "deny", message: preview.message }
    const { verdict, facts, diff } = preview
    if (verdict.decision === "allow") return allowed
    if (verdict.decision === "deny" || ask === undefined) return { behavior: "deny", message: verdict.reason }
    const question = { tool, input: preview.input, facts, reason: verdict.reason, ...(diff !== undefined && { diff }) }
    const answer = await ask(question)
    return answer.approved ? allowed : { behavior: "deny", message: answer.reason ?? verdict.reason }
  }
}
