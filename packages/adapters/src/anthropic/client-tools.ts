import type { BetaRunnableTool } from "@anthropic-ai/sdk/lib/tools/BetaRunnableTool"
import { ToolError } from "@anthropic-ai/sdk/lib/tools/ToolError"
import type { BetaTool, BetaToolUnion } from "@anthropic-ai/sdk/resources/beta"
import type { OpenHost, PromiseCallOptions } from "@haft/core/promise"

import { anthropicTool } from "../tool-list/export-tools.ts"
import { legalNames } from "../tool-list/names.ts"
import { listedTools } from "../tool-list/shown-tools.ts"
import { anthropicTypes } from "../tool-list/vendor-types.ts"
import type { AnthropicTools } from "./messages.ts"

/** Properties of a tool definition that say how the API treats the tool. */
export type ClientToolProperties = Pick<
  BetaTool,
  "allowed_callers" | "cache_control" | "defer_loading" | "eager_input_streaming" | "input_examples" | "strict"
>

export interface ClientToolOptions {
  /** Names of the host's tools to offer; those that its profile lists when absent. */
  readonly only?: ReadonlyArray<string>
  /** Further properties of definitions, by the name of the tool. */
  readonly properties?: Readonly<Record<string, ClientToolProperties>>
  /** Characters that a view of the text editor shows at most. */
  readonly maxCharacters?: number
  /** Whom the host asks where its policy asks. */
  readonly ask?: PromiseCallOptions["ask"]
}

/**
 * Client tools of Anthropic's API on a host in the dialect `anthropic`: `bash`, the text editor and `memory` by their
 * types, everything else with its schema.
 */
export const anthropicClientTools = (
  host: Pick<OpenHost, "tools" | "call" | "dialect">,
  options: ClientToolOptions = {}
): Pick<AnthropicTools, "call"> & { readonly tools: Array<BetaToolUnion> } => {
  const tools = runnableTools(host, options)
  const named = new Map(tools.map((tool) => [tool.name, tool]))
  return {
    tools: tools.map(({ run: _run, parse: _parse, ...definition }) => definition as BetaToolUnion),
    call: async ({ id, name, input }, callOptions) => {
      const { original } = legalNames(host.tools.map((tool) => tool.name))
      const given = named.has(name) ? argumentsOf(name, input, options) : input
      const reply = await host.call(original(name), given, { requestId: id, ...asking(options), ...callOptions })
      return { type: "tool_result", tool_use_id: id, content: reply.text, is_error: !reply.ok }
    }
  }
}

/**
 * Tools for `client.beta.messages.toolRunner({ tools })` and `EnvironmentWorker({ tools })`. Closing the host ends the
 * shell and whatever runs; a runner that stops does not.
 */
export const runnableTools = (
  host: Pick<OpenHost, "tools" | "call" | "dialect">,
  options: ClientToolOptions = {}
): Array<BetaRunnableTool> => {
  const { legal } = legalNames(host.tools.map(({ name }) => name))
  const { only } = options
  const offered = only === undefined ? listedTools(host) : host.tools.filter(({ name }) => only.includes(name))
  return offered.map((tool) => {
    const name = legal(tool.name)
    return Object.assign(definitionOf(host, tool, name, options), options.properties?.[tool.name], {
      // Arguments that don't fit reach the host, and are refused there, on record.
      parse: (content: unknown) => content,
      run: async (input: unknown, context) => {
        const { toolUse, signal } = context ?? {}
        const reply = await host.call(tool.name, argumentsOf(name, input, options), {
          ...asking(options),
          ...(toolUse !== undefined && { requestId: toolUse.id }),
          ...(signal instanceof AbortSignal && { signal })
        })
        if (!reply.ok) throw new ToolError(reply.text)
        return reply.text
      }
    } satisfies Pick<BetaRunnableTool, "parse" | "run">) as BetaRunnableTool
  })
}

const definitionOf = (
  { dialect }: Pick<OpenHost, "dialect">,
  tool: OpenHost["tools"][number],
  name: string,
  { maxCharacters }: ClientToolOptions
): object => {
  const type = dialect.name === "anthropic" ? anthropicTypes[name as keyof typeof anthropicTypes] : undefined
  if (type === undefined) return anthropicTool(tool, name)
  const isEditor = type === anthropicTypes.str_replace_based_edit_tool
  return { type, name, ...(isEditor && maxCharacters !== undefined && { max_characters: maxCharacters }) }
}

/** Arguments with the limit of views, which the definition names and the model does not. */
const argumentsOf = (name: string, input: unknown, { maxCharacters }: ClientToolOptions): unknown =>
  name === "str_replace_based_edit_tool" && maxCharacters !== undefined && typeof input === "object"
    ? { ...input, max_characters: maxCharacters }
    : input

const asking = ({ ask }: ClientToolOptions): Pick<PromiseCallOptions, "ask"> => (ask === undefined ? {} : { ask })
