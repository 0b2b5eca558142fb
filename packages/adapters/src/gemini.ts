import type { OpenHost, PromiseCallOptions } from "@haft/core/promise"

import { type GeminiFunction, geminiFunction } from "./export-tools.ts"
import { mediaIn } from "./media-blocks.ts"
import { legalNames } from "./names.ts"
import { shownTools } from "./shown-tools.ts"

/** A call as Gemini's API puts it into a part of its answer. */
export interface GeminiFunctionCall {
  readonly id?: string | undefined
  readonly name?: string | undefined
  readonly args?: Record<string, unknown> | undefined
}

/** A part with the answer to a call, for the next request's `contents`. Images and sounds are parts of their own. */
export interface GeminiFunctionResponsePart {
  functionResponse: {
    id?: string
    name: string
    response: Record<string, unknown>
    parts?: Array<{ inlineData: { mimeType: string; data: string } }>
  }
}

/** A host's tools for Gemini's API. The types are those of `@google/genai`, which is not needed for them. */
export interface GeminiTools {
  /** What the model is shown now, for `config.tools`: read it again for each request. */
  readonly tools: Array<{ functionDeclarations: Array<GeminiFunction> }>
  /** Makes the call; the answer goes into the next request's `contents`, in a turn of the user. */
  readonly call: (call: GeminiFunctionCall, options?: PromiseCallOptions) => Promise<GeminiFunctionResponsePart>
}

export const geminiTools = (host: Pick<OpenHost, "tools" | "call">): GeminiTools => {
  const { legal, original } = legalNames(host.tools.map(({ name }) => name))
  const shown = shownTools(host)
  return {
    get tools() {
      return [{ functionDeclarations: shown.list().map((tool) => geminiFunction(tool, legal(tool.name))) }]
    },
    call: async ({ id, name = "", args = {} }, options) => {
      const reply = await host.call(original(name), args, { ...(id !== undefined && { requestId: id }), ...options })
      shown.learn(original(name), reply)
      const parts = mediaIn(reply).map(({ data, mimeType }) => ({ inlineData: { mimeType, data } }))
      return {
        functionResponse: {
          ...(id !== undefined && { id }),
          name,
          response: responseOf(reply.wire),
          ...(parts.length > 0 && { parts })
        }
      }
    }
  }
}

// The API takes an object only; contracts may answer with a list or a text.
const responseOf = (wire: unknown): Record<string, unknown> =>
  typeof wire === "object" && wire !== null && !Array.isArray(wire) ? { ...wire } : { output: wire }
