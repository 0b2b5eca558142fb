import type { Reply, ToolDescription } from "@haft/core"
import type { OpenHost, PromiseCallOptions } from "@haft/core/promise"
import type {
  CustomTool,
  FunctionTool,
  ResponseApplyPatchToolCall,
  ResponseCustomToolCall,
  ResponseCustomToolCallOutput,
  ResponseFunctionShellToolCall,
  ResponseFunctionToolCall,
  ResponseInputItem,
  Tool
} from "openai/resources/responses/responses"

import { legalNames } from "../tool-list/names.ts"
import { openaiTypes } from "../tool-list/vendor-types.ts"
import { type OpenAIOptions, openaiTools } from "./functions.ts"

/** Grammar of the only argument of a custom tool. */
export type ToolGrammar = Extract<NonNullable<CustomTool["format"]>, { readonly type: "grammar" }>

export interface LocalToolOptions extends OpenAIOptions {
  /** Tools with one required text to offer as custom tools, by name, with the grammar that the model keeps to. */
  readonly custom?: Readonly<Record<string, ToolGrammar>>
}

/** Item of a response that calls a tool of the host. */
export type LocalToolCall =
  | Pick<ResponseFunctionToolCall, "type" | "name" | "arguments" | "call_id" | "caller">
  | Pick<ResponseCustomToolCall, "type" | "name" | "input" | "call_id" | "caller">
  | Pick<ResponseFunctionShellToolCall, "type" | "action" | "call_id" | "caller">
  | Pick<ResponseApplyPatchToolCall, "type" | "operation" | "call_id" | "caller">

export interface OpenAILocalTools {
  /** Tools as the model sees them now: read it again for each request. */
  readonly tools: Array<Tool>
  /** Makes the call; the answer goes into the next request's `input`. */
  readonly call: (item: LocalToolCall, options?: PromiseCallOptions) => Promise<LocalToolOutput>
}

export type LocalToolOutput =
  | ResponseInputItem.FunctionCallOutput
  | ResponseCustomToolCallOutput
  | ResponseInputItem.ShellCallOutput
  | ResponseInputItem.ApplyPatchCallOutput

const localTypes: Readonly<Record<string, Tool>> = openaiTypes

/**
 * A host's tools for the Responses API: `shell` and `apply_patch` of the dialect `openai` by their types, tools with a
 * grammar as custom tools, everything else as functions.
 */
export const openaiLocalTools = (
  host: Pick<OpenHost, "tools" | "call" | "dialect">,
  { custom = {}, ...options }: LocalToolOptions = {}
): OpenAILocalTools => {
  const { original } = legalNames(host.tools.map(({ name }) => name))
  const functions = openaiTools(host, options).responses
  const offered = (tool: FunctionTool): Tool => {
    const name = original(tool.name)
    const local = host.dialect.name === "openai" ? localTypes[name] : undefined
    const format = custom[name]
    if (local !== undefined || format === undefined) return local ?? tool
    return { type: "custom", name: tool.name, ...descriptionOf(tool), format }
  }
  const call = (name: string, args: unknown, item: LocalToolCall, callOptions?: PromiseCallOptions): Promise<Reply> =>
    host.call(name, args, { requestId: item.call_id, ...callOptions })
  return {
    get tools() {
      return functions.tools.map(offered)
    },
    call: async (item, callOptions) => {
      const { call_id, caller } = item
      const known = { call_id, ...(caller !== undefined && { caller }) }
      if (item.type === "function_call") return { ...(await functions.call(item, callOptions)), ...known }
      if (item.type === "custom_tool_call") {
        const name = original(item.name)
        const reply = await call(name, { [textOf(host.tools, name)]: item.input }, item, callOptions)
        return { type: "custom_tool_call_output", ...known, output: reply.text }
      }
      // In the dialect `openai` an answer has the fields of the output item.
      if (item.type === "shell_call") {
        const { wire } = await call("shell", item.action, item, callOptions)
        return { type: "shell_call_output", ...known, ...(wire as Pick<ResponseInputItem.ShellCallOutput, "output">) }
      }
      const { wire } = await call("apply_patch", { operation: item.operation }, item, callOptions)
      return {
        type: "apply_patch_call_output",
        ...known,
        ...(wire as Pick<ResponseInputItem.ApplyPatchCallOutput, "status">)
      }
    }
  }
}

const descriptionOf = ({ description }: FunctionTool): Pick<CustomTool, "description"> =>
  typeof description === "string" ? { description } : {}

/** The parameter that a custom tool's text goes into: the first that is required. */
const textOf = (tools: ReadonlyArray<ToolDescription>, name: string): string => {
  const { required = [] } = (tools.find((tool) => tool.name === name)?.inputSchema ?? {}) as {
    required?: Array<string>
  }
  return required[0] ?? "input"
}

/** Grammar of patches between `*** Begin Patch` and `*** End Patch`, for `apply_patch` as a custom tool. */
export const patchGrammar: ToolGrammar = {
  type: "grammar",
  syntax: "lark",
  definition: [
    "start: BEGIN section+ END",
    "section: add | delete | update",
    'add: "*** Add File: " LINE added+',
    'delete: "*** Delete File: " LINE',
    'update: "*** Update File: " LINE move? hunk+',
    'move: "*** Move to: " LINE',
    "hunk: anchor+ change+ EOF_MARK? | change+ EOF_MARK?",
    'anchor: "@@" NEWLINE | "@@ " LINE',
    "change: added | removed | kept",
    'added: "+" TEXT',
    'removed: "-" TEXT',
    'kept: " " TEXT',
    'EOF_MARK: "*** End of File" NEWLINE',
    'BEGIN: "*** Begin Patch" NEWLINE',
    'END: "*** End Patch" NEWLINE?',
    "LINE: /[^\\r\\n]+/ NEWLINE",
    "TEXT: /[^\\r\\n]*/ NEWLINE",
    "NEWLINE: /\\r?\\n/"
  ].join("\n")
}
