import type { Reply, ToolDescription } from "@haft/core"
import type { OpenHost, PromiseCallOptions } from "@haft/core/promise"
import type {
  ChatCompletionFunctionTool,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionToolMessageParam
} from "openai/resources/chat/completions"
import type { FunctionTool, ResponseFunctionToolCall, ResponseInputItem } from "openai/resources/responses/responses"

import { contentOf, type ModelOptions, parseArguments } from "../model-call.ts"
import { legalNames } from "../names.ts"
import { fromStrict, strictSchema } from "../strict-schema.ts"

export interface OpenAIOptions extends ModelOptions {
  /** Use strict function calling, for the tools whose schema can be made strict. */
  readonly strict?: boolean
}

/** A host's tools for OpenAI's Responses and Chat Completions APIs, and others that are compatible with them. */
export interface OpenAITools {
  readonly responses: {
    readonly tools: Array<FunctionTool>
    /** Makes the call; the answer goes into the next request's `input`. */
    readonly call: (
      item: Pick<ResponseFunctionToolCall, "name" | "arguments" | "call_id">,
      options?: PromiseCallOptions
    ) => Promise<ResponseInputItem.FunctionCallOutput>
  }
  readonly chat: {
    readonly tools: Array<ChatCompletionFunctionTool>
    /** Makes the call; the answer goes into the next request's `messages`. */
    readonly call: (
      toolCall: ChatCompletionMessageFunctionToolCall,
      options?: PromiseCallOptions
    ) => Promise<ChatCompletionToolMessageParam>
  }
}

export const openaiTools = (host: Pick<OpenHost, "tools" | "call">, options: OpenAIOptions = {}): OpenAITools => {
  const { legal, original } = legalNames(host.tools.map(({ name }) => name))
  const functions = host.tools.map((tool) => functionOf(tool, legal(tool.name), options.strict ?? false))
  const strictTools = host.tools.filter((_, at) => functions[at]?.strict === true)

  const call = (name: string, written: string, callOptions?: PromiseCallOptions): Promise<Reply> => {
    const args = parseArguments(written)
    const strictTool = strictTools.find((tool) => tool.name === original(name))
    const meant = strictTool === undefined ? args : fromStrict(args, strictTool.inputSchema)
    return host.call(original(name), meant, callOptions)
  }

  return {
    responses: {
      tools: functions.map((one) => ({ type: "function", ...one })),
      call: async (item, callOptions) => ({
        type: "function_call_output",
        call_id: item.call_id,
        output: contentOf(await call(item.name, item.arguments, { requestId: item.call_id, ...callOptions }), options)
      })
    },
    chat: {
      tools: functions.map((one) => ({ type: "function", function: one })),
      call: async ({ id, function: { name, arguments: written } }, callOptions) => ({
        role: "tool",
        tool_call_id: id,
        content: contentOf(await call(name, written, { requestId: id, ...callOptions }), options)
      })
    }
  }
}

const functionOf = (tool: ToolDescription, name: string, wantsStrict: boolean) => {
  const parameters = wantsStrict ? strictSchema(tool.inputSchema) : undefined
  return {
    name,
    description: tool.description,
    parameters: { ...(parameters ?? tool.inputSchema) },
    strict: parameters !== undefined
  }
}
