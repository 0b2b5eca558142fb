import type {
  ImageBlockParam,
  TextBlockParam,
  Tool,
  ToolResultBlockParam,
  ToolUseBlock
} from "@anthropic-ai/sdk/resources/messages"
import type { Reply, ToolDescription } from "@haft/core"
import type { OpenHost, PromiseCallOptions } from "@haft/core/promise"

import { leftOut, type MediaBlock, mediaIn } from "../media-blocks.ts"
import { type CallerOptions, contentOf, type ModelOptions, sharedFields } from "../model-call.ts"
import { fromStrict, strictSchema, withoutBounds } from "../schemas/strict-schema.ts"
import { anthropicTool } from "../tool-list/export-tools.ts"
import { legalNames } from "../tool-list/names.ts"
import { searchableTools, shownTools } from "../tool-list/shown-tools.ts"

export interface AnthropicOptions extends ModelOptions, CallerOptions<NonNullable<Tool["allowed_callers"]>[number]> {
  /**
   * Tools with strict inputs, where their schema can be made strict. The API takes only some strict tools in a request,
   * so name those where it matters.
   */
  readonly strict?: (tool: ToolDescription) => boolean
  /** Give the API examples of arguments, for the tools that have some. They cost context. */
  readonly inputExamples?: boolean
  /** Tools whose arguments the API streams as they are written, such as long contents of files. */
  readonly eagerInputStreaming?: (tool: ToolDescription) => boolean
}

/** A host's tools for Anthropic's Messages API. */
export interface AnthropicTools {
  /** Tools as the model sees them now: read it again for each request. */
  readonly tools: Array<Tool>
  /** Makes the call; the answer goes into the next user message. */
  readonly call: (
    block: Pick<ToolUseBlock, "id" | "name" | "input">,
    options?: PromiseCallOptions
  ) => Promise<ToolResultBlockParam>
}

export const anthropicTools = (
  host: Pick<OpenHost, "tools" | "call">,
  options: AnthropicOptions = {}
): AnthropicTools => {
  const { legal, original } = legalNames(host.tools.map(({ name }) => name))
  const shown = shownTools(host)
  const strictSchemas = new Map(
    host.tools.flatMap((tool) => {
      const schema = options.strict?.(tool) === true ? strictSchema(tool.inputSchema) : undefined
      return schema === undefined ? [] : [[tool.name, schema] as const]
    })
  )
  const toolOf = (tool: ToolDescription): Tool => {
    const schema = strictSchemas.get(tool.name)
    return {
      ...anthropicTool(tool, legal(tool.name)),
      ...(schema !== undefined && { strict: true, input_schema: { type: "object", ...withoutBounds(schema) } }),
      ...(options.inputExamples === true && schema === undefined && examplesOf(tool)),
      ...(options.eagerInputStreaming?.(tool) === true && { eager_input_streaming: true }),
      ...sharedFields(tool, options)
    }
  }
  return {
    get tools() {
      return (options.deferLoading === true ? searchableTools(host) : shown.list()).map(toolOf)
    },
    call: async ({ id, name, input }, callOptions) => {
      const tool = host.tools.find((one) => one.name === original(name))
      const isStrict = tool !== undefined && strictSchemas.has(tool.name)
      const args = isStrict ? fromStrict(input, tool.inputSchema) : input
      const reply = await host.call(original(name), args, { requestId: id, ...callOptions })
      shown.learn(original(name), reply)
      return { type: "tool_result", tool_use_id: id, content: resultOf(reply, options), is_error: !reply.ok }
    }
  }
}

const resultOf = (reply: Reply, options: ModelOptions): NonNullable<ToolResultBlockParam["content"]> => {
  const text = contentOf(reply, options)
  const media = mediaIn(reply)
  return media.length === 0 ? text : [{ type: "text", text }, ...media.map(resultBlock)]
}

const resultBlock = (block: MediaBlock): ImageBlockParam | TextBlockParam => {
  const { data, mimeType } = block
  const media_type = imageTypes.find((type) => block.type === "image" && type === mimeType)
  if (media_type === undefined) return { type: "text", text: leftOut(block) }
  return { type: "image", source: { type: "base64", media_type, data } }
}

const imageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const

const examplesOf = ({ examples }: ToolDescription): Pick<Tool, "input_examples"> =>
  examples === undefined ? {} : { input_examples: examples.map((example) => ({ ...example })) }
