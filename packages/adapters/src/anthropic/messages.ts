import type { Tool, ToolResultBlockParam, ToolUseBlock } from "@anthropic-ai/sdk/resources/messages"
import type { OpenHost, PromiseCallOptions } from "@haft/core/promise"

import { anthropicTool } from "../export-tools.ts"
import { contentOf, type ModelOptions } from "../model-call.ts"
import { legalNames } from "../names.ts"

/** A host's tools for Anthropic's Messages API. */
export interface AnthropicTools {
  readonly tools: Array<Tool>
  /** Makes the call; the answer goes into the next user message. */
  readonly call: (
    block: Pick<ToolUseBlock, "id" | "name" | "input">,
    options?: PromiseCallOptions
  ) => Promise<ToolResultBlockParam>
}

export const anthropicTools = (host: Pick<OpenHost, "tools" | "call">, options: ModelOptions = {}): AnthropicTools => {
  const { legal, original } = legalNames(host.tools.map(({ name }) => name))
  return {
    tools: host.tools.map((tool) => anthropicTool(tool, legal(tool.name))),
    call: async ({ id, name, input }, callOptions) => {
      const reply = await host.call(original(name), input, { requestId: id, ...callOptions })
      return { type: "tool_result", tool_use_id: id, content: contentOf(reply, options), is_error: !reply.ok }
    }
  }
}
