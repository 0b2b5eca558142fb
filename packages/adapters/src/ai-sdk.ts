import type { ApprovalQuestion, CallPreview, Progress, Reply, ToolDescription } from "@haft/core"
import type { OpenHost, PromiseCallOptions } from "@haft/core/promise"
import { dynamicTool, jsonSchema, type JSONSchema7, type JSONValue, type ModelMessage, type ToolSet } from "ai"

import { type MediaBlock, mediaIn } from "./media-blocks.ts"
import { legalNames } from "./tool-list/names.ts"
import { listedTools, shownTools } from "./tool-list/shown-tools.ts"

export { aiSdkSandbox } from "./ai-sdk-sandbox.ts"

type Options = Pick<PromiseCallOptions, "ask" | "onProgress">

export interface AiSdkToolOptions extends Options {
  /** Hand progress of a call to the SDK as preliminary results, `{ progress }`, before the reply. */
  readonly preliminary?: boolean
  /** Give the model examples of arguments, for the tools that have some. They cost context. */
  readonly inputExamples?: boolean
}

/** A host's tools for the AI SDK: `generateText({ model, tools: aiSdkTools(host) })`. */
export const aiSdkTools = (
  host: Pick<OpenHost, "tools" | "call">,
  { preliminary = false, inputExamples = false, ...options }: AiSdkToolOptions = {}
): ToolSet => toolsOf(host, listedTools(host), () => options, { preliminary, inputExamples })

/** Tools of which the model sees more once it has found them. */
export interface AiSdkToolSearch {
  readonly tools: ToolSet
  /** Shows the model the tools of the host's profile, and those that `find_tools` found in an earlier step. */
  readonly prepareStep: () => { readonly activeTools: Array<string> }
}

/**
 * All tools of a host for the AI SDK, with `find_tools`: `generateText({ model, ...aiSdkToolSearch(host) })`. One value
 * is for one conversation, as it remembers what was found.
 */
export const aiSdkToolSearch = (
  host: Pick<OpenHost, "tools" | "call">,
  { preliminary = false, inputExamples = false, ...options }: AiSdkToolOptions = {}
): AiSdkToolSearch => {
  const { legal } = legalNames(host.tools.map(({ name }) => name))
  const shown = shownTools(host)
  const call: OpenHost["call"] = async (tool, args, callOptions) => {
    const reply = await host.call(tool, args, callOptions)
    shown.learn(tool, reply)
    return reply
  }
  return {
    tools: toolsOf({ ...host, call }, host.tools, () => options, { preliminary, inputExamples }),
    prepareStep: () => ({ activeTools: shown.list().map(({ name }) => legal(name)) })
  }
}

const toolsOf = (
  host: Pick<OpenHost, "tools" | "call">,
  offered: ReadonlyArray<ToolDescription>,
  optionsOf: (toolCallId: string) => PromiseCallOptions,
  { preliminary = false, inputExamples = false }: AiSdkToolOptions = {}
): ToolSet => {
  const { legal } = legalNames(host.tools.map(({ name }) => name))
  return Object.fromEntries(
    offered.map((tool) => [
      legal(tool.name),
      dynamicTool({
        description: tool.description,
        // Without `validate`: arguments that don't fit reach the host, and are refused there, on record.
        inputSchema: jsonSchema(tool.inputSchema as JSONSchema7),
        outputSchema: jsonSchema(replySchemaOf(tool)),
        ...(inputExamples &&
          tool.examples !== undefined && { inputExamples: tool.examples.map((input) => ({ input })) }),
        execute: (input, { abortSignal, toolCallId }) => {
          // The model's own id for the call goes on record with it.
          const callOptions = {
            ...optionsOf(toolCallId),
            requestId: toolCallId,
            ...(abortSignal !== undefined && { signal: abortSignal })
          }
          if (!preliminary) return host.call(tool.name, input, callOptions)
          return withProgress(callOptions, (reporting) => host.call(tool.name, input, reporting))
        },
        toModelOutput: ({ output }) => {
          const reply = output as Reply
          const media = mediaIn(reply)
          if (media.length === 0) return { type: reply.ok ? "json" : "error-json", value: reply.wire as JSONValue }
          return { type: "content", value: [{ type: "text", text: JSON.stringify(reply.wire) }, ...media.map(fileOf)] }
        }
      })
    ])
  )
}

const fileOf = ({ data, mimeType }: MediaBlock) => ({
  type: "file" as const,
  mediaType: mimeType,
  data: { type: "data" as const, data }
})

/** Schema of a reply as these tools return it: the envelope is the part that the model reads. */
const replySchemaOf = ({ replySchema }: ToolDescription): JSONSchema7 => ({
  type: "object",
  properties: { ok: { type: "boolean" }, wire: replySchema as JSONSchema7, text: { type: "string" } },
  required: ["ok", "wire", "text"]
})

/** Progress of a call as it comes, then its reply: what the SDK was handed last is the result. */
async function* withProgress(
  options: PromiseCallOptions,
  call: (options: PromiseCallOptions) => Promise<Reply>
): AsyncGenerator<Reply | { readonly progress: Progress }> {
  const reported: Array<Progress> = []
  let next = Promise.withResolvers<void>()
  const onProgress = (progress: Progress): void => {
    options.onProgress?.(progress)
    reported.push(progress)
    next.resolve()
  }
  const replying = call({ ...options, onProgress })
  const ended = replying.then(
    () => true,
    () => true
  )
  for (;;) {
    const isOver = await Promise.race([next.promise.then(() => false), ended])
    next = Promise.withResolvers()
    for (const progress of reported.splice(0)) yield { progress }
    if (isOver) break
  }
  yield await replying
}

/** A call as the AI SDK hands it to `toolApproval`. */
interface ToolCall {
  readonly toolCallId: string
  readonly toolName: string
  readonly input: unknown
}

type ApprovalStatus = "not-applicable" | { readonly type: "user-approval"; readonly reason: string }

/** Tools whose questions are put through the AI SDK's approval requests. */
export interface AiSdkApproval {
  readonly tools: ToolSet
  readonly toolApproval: (options: {
    readonly toolCall: ToolCall
    readonly messages: ReadonlyArray<ModelMessage>
  }) => Promise<ApprovalStatus>
}

/** Questions that are kept for an answer; the oldest are forgotten first, and then asked about again. */
const mostQuestions = 1000

/**
 * A host's tools with the AI SDK's own approval: `generateText({ model, ...aiSdkApproval(host) })`. Calls that the host's
 * policy asks about become approval requests, and run once approved, if arguments, touched paths and diff are still what
 * was shown; otherwise, and for approvals given in another process, `ask` decides, or the call is denied. Calls that the
 * policy denies reach the host too, which refuses them on record.
 */
export const aiSdkApproval = (
  host: Pick<OpenHost, "tools" | "call" | "preview">,
  options: Options = {}
): AiSdkApproval => {
  const { original } = legalNames(host.tools.map(({ name }) => name))
  const shown = new Map<string, string>()
  const { ask = refuse } = options
  return {
    tools: toolsOf(host, listedTools(host), (id) => ({
      ...options,
      ask: (question) => {
        const isShown = shown.get(id) === shownIn(question)
        shown.delete(id)
        return isShown ? Promise.resolve({ approved: true }) : ask(question)
      }
    })),
    toolApproval: async ({ toolCall: { toolCallId, toolName, input }, messages }) => {
      // The SDK looks again once the answer is there. What was shown to the person stays what it was.
      if (messages.some((message) => hasCall(message, toolCallId))) return "not-applicable"
      // A call that can't be previewed, for example by malformed arguments, is refused by the call itself.
      const preview = await host.preview(original(toolName), input).catch(() => undefined)
      if (preview?.verdict.decision !== "ask") return "not-applicable"
      const [oldest] = shown.keys()
      if (oldest !== undefined && shown.size >= mostQuestions) shown.delete(oldest)
      shown.set(toolCallId, shownIn({ ...preview, preview: preview.diff }))
      return { type: "user-approval", reason: reasonIn(preview) }
    }
  }
}

const hasCall = ({ content }: ModelMessage, id: string): boolean =>
  typeof content !== "string" && content.some((part) => part.type === "tool-call" && part.toolCallId === id)

const refuse: NonNullable<Options["ask"]> = () =>
  Promise.resolve({
    approved: false,
    reason: "what was approved is not what would be done now, or the approval came from another process"
  })

const shownIn = ({
  input,
  facts,
  preview
}: Pick<ApprovalQuestion, "input" | "facts"> & { readonly preview?: string | undefined }): string =>
  JSON.stringify([input, facts, preview])

const reasonIn = ({ verdict, diff }: CallPreview): string =>
  diff === undefined ? verdict.reason : `${verdict.reason}\n${diff}`
