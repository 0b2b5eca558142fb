import type { CallableTool, FunctionCall, Part } from "@google/genai"
import type { OpenHost, PromiseCallOptions } from "@haft/core/promise"

import { mediaIn } from "./media-blocks.ts"
import { geminiFunction } from "./tool-list/export-tools.ts"
import { legalNames } from "./tool-list/names.ts"
import { shownTools } from "./tool-list/shown-tools.ts"

/**
 * A host's tools for `ai.models.generateContent({ config: { tools: [genaiTool(host)] } })`: the SDK sends the
 * declarations, makes the calls and sends their answers, until the model is done. Tools that `find_tools` found are
 * declared from the next request on.
 */
export const genaiTool = (
  host: Pick<OpenHost, "tools" | "call">,
  options: Pick<PromiseCallOptions, "ask" | "signal"> = {}
): CallableTool => {
  const { legal, original } = legalNames(host.tools.map(({ name }) => name))
  const shown = shownTools(host)
  const answer = async ({ id, name = "", args = {} }: FunctionCall): Promise<Part> => {
    const known = { ...(id !== undefined && { id }), name }
    const reply = await host.call(original(name), args, {
      ...options,
      ...(id !== undefined && { requestId: id })
    })
    shown.learn(original(name), reply)
    const parts = mediaIn(reply).map(({ data, mimeType }) => ({ inlineData: { mimeType, data } }))
    const response = reply.ok ? { output: reply.wire } : { error: reply.wire }
    return { functionResponse: { ...known, response, ...(parts.length > 0 && { parts }) } }
  }
  return {
    tool: () =>
      Promise.resolve({
        // The SDK asks for it once, and reads it again for each request of its loop.
        get functionDeclarations() {
          return shown.list().map((tool) => geminiFunction(tool, legal(tool.name)))
        }
      }),
    // One after the other, in the model's order: a call may rely on what the one before it changed.
    callTool: async (calls) => {
      const parts: Array<Part> = []
      for (const call of calls) parts.push(await answer(call))
      return parts
    }
  }
}
