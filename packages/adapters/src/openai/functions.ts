import type { Reply, ToolDescription } from "@haft/core"
import type { OpenHost, PromiseCallOptions } from "@haft/core/promise"
import type {
  ChatCompletionFunctionTool,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionToolMessageParam
} from "openai/resources/chat/completions"
import type {
  FunctionTool,
  ResponseFunctionCallOutputItem,
  ResponseFunctionToolCall,
  ResponseInputItem
} from "openai/resources/responses/responses"

import { dataUrl, leftOut, type MediaBlock, mediaIn } from "../media-blocks.ts"
import { type CallerOptions, contentOf, type ModelOptions, parseArguments, sharedFields } from "../model-call.ts"
import { fromStrict, strictSchema } from "../schemas/strict-schema.ts"
import { legalNames } from "../tool-list/names.ts"
import { searchableTools, shownTools } from "../tool-list/shown-tools.ts"

export interface OpenAIOptions extends ModelOptions, CallerOptions<"direct" | "programmatic"> {
  /** Use strict function calling, for the tools whose schema can be made strict. */
  readonly strict?: boolean
  /** Give the Responses API the schemas of replies, for programs that the model writes. */
  readonly outputSchemas?: boolean
}

/** A host's tools for OpenAI's Responses and Chat Completions APIs, and others that are compatible with them. */
export interface OpenAITools {
  readonly responses: {
    /** Tools as the model sees them now: read it again for each request. */
    readonly tools: Array<FunctionTool>
    /** Makes the call; the answer goes into the next request's `input`. */
    readonly call: (
      item: Pick<ResponseFunctionToolCall, "name" | "arguments" | "call_id">,
      options?: PromiseCallOptions
    ) => Promise<ResponseInputItem.FunctionCallOutput>
  }
  readonly chat: {
    /** Tools as the model sees them now: read it again for each request. */
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
  const { strict = false, deferLoading = false, outputSchemas = false } = options
  const shown = shownTools(host)
  const functions = new Map(host.tools.map((tool) => [tool, functionOf(tool, legal(tool.name), strict)]))
  const functionsOf = (tools: ReadonlyArray<ToolDescription>) =>
    [...functions].filter(([tool]) => tools.includes(tool)).map(([tool, made]) => ({ tool, made }))
  const functionTool = ({ tool, made }: ReturnType<typeof functionsOf>[number]): FunctionTool => ({
    type: "function",
    ...made,
    ...sharedFields(tool, options),
    ...(outputSchemas && { output_schema: { ...tool.replySchema } })
  })

  const call = async (name: string, written: string, callOptions?: PromiseCallOptions): Promise<Reply> => {
    const args = parseArguments(written)
    const tool = host.tools.find((one) => one.name === original(name))
    const isStrict = tool !== undefined && functions.get(tool)?.strict === true
    const reply = await host.call(original(name), isStrict ? fromStrict(args, tool.inputSchema) : args, callOptions)
    shown.learn(original(name), reply)
    return reply
  }

  return {
    responses: {
      get tools() {
        return functionsOf(deferLoading ? searchableTools(host) : shown.list()).map(functionTool)
      },
      call: async (item, callOptions) => {
        const reply = await call(item.name, item.arguments, { requestId: item.call_id, ...callOptions })
        const text = contentOf(reply, options)
        const media = mediaIn(reply)
        return {
          type: "function_call_output",
          call_id: item.call_id,
          output: media.length === 0 ? text : [{ type: "input_text", text }, ...media.map(outputItem)]
        }
      }
    },
    chat: {
      // Chat Completions has no tool search: what is deferred there is left out.
      get tools() {
        return functionsOf(shown.list()).map(({ made }) => ({ type: "function" as const, function: made }))
      },
      call: async ({ id, function: { name, arguments: written } }, callOptions) => {
        const reply = await call(name, written, { requestId: id, ...callOptions })
        const texts = [contentOf(reply, options), ...mediaIn(reply).map(leftOut)]
        return { role: "tool", tool_call_id: id, content: texts.join("\n") }
      }
    }
  }
}

const outputItem = (block: MediaBlock): ResponseFunctionCallOutputItem =>
  block.type === "image"
    ? { type: "input_image", image_url: dataUrl(block), detail: "auto" }
    : { type: "input_text", text: leftOut(block) }

const functionOf = (tool: ToolDescription, name: string, wantsStrict: boolean) => {
  const parameters = wantsStrict ? strictSchema(tool.inputSchema) : undefined
  return {
    name,
    description: tool.description,
    parameters: { ...(parameters ?? tool.inputSchema) },
    strict: parameters !== undefined
  }
}
