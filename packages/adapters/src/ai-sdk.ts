import type { OpenHost, PromiseCallOptions } from "@haft/core/promise"
import { dynamicTool, jsonSchema, type JSONSchema7, type JSONValue, type ToolSet } from "ai"

import { legalNames } from "./names.ts"

/** A host's tools for the AI SDK: `generateText({ model, tools: aiSdkTools(host) })`. */
export const aiSdkTools = (
  host: Pick<OpenHost, "tools" | "call">,
  options: Pick<PromiseCallOptions, "ask" | "onProgress"> = {}
): ToolSet => {
  const { legal } = legalNames(host.tools.map(({ name }) => name))
  return Object.fromEntries(
    host.tools.map((tool) => [
      legal(tool.name),
      dynamicTool({
        description: tool.description,
        // Without `validate`: arguments that don't fit reach the host, and are refused there, on record.
        inputSchema: jsonSchema(tool.inputSchema as JSONSchema7),
        // The model's own id for the call goes on record with it.
        execute: (input, { abortSignal, toolCallId }) =>
          host.call(tool.name, input, {
            ...options,
            requestId: toolCallId,
            ...(abortSignal !== undefined && { signal: abortSignal })
          }),
        toModelOutput: ({ output }) => {
          const { ok, wire } = output as { ok: boolean; wire: JSONValue }
          return { type: ok ? "json" : "error-json", value: wire }
        }
      })
    ])
  )
}
