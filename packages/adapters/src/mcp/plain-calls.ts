import {
  INTERNAL_ERROR,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type ProgressToken,
  type RequestId,
  TRACEPARENT_META_KEY
} from "@modelcontextprotocol/server"

import type { Conversation, ConversationOptions } from "../conversation.ts"
import { progressTo } from "./progress.ts"
import { mcpResult } from "./tool.ts"

/** What a server factory gives to a transport that answers calls without the SDK. */
export interface PlainCalls {
  readonly begin: (name: string, args: unknown, options: Omit<ConversationOptions, "asks">) => Conversation
  /**
   * The same request, marked so that the SDK's server goes on with this conversation instead of making another call.
   */
  readonly handOver: (request: JSONRPCRequest, conversation: Conversation) => JSONRPCRequest
}

export interface PlainConnection {
  /** Sends a message to the client; does nothing if the client has gone. */
  readonly send: (message: JSONRPCMessage) => void
  /** Passes a message of the client on to the SDK. */
  readonly pass: (message: JSONRPCMessage) => void
}

/**
 * Answers `tools/call` in the protocols of 2025 without the SDK, which validates each request and each answer nine
 * times and takes as long for that as a small file read. A call that has to ask the client something is handed over to
 * the SDK.
 */
export const plainCalls = ({ begin, handOver }: PlainCalls, { send, pass }: PlainConnection) => {
  const running = new Map<RequestId, Conversation>()

  const run = (request: JSONRPCRequest, conversation: Conversation): Promise<void> => {
    const { id } = request
    // A call that was cancelled meanwhile is not answered.
    const unlessOver = (tell: () => void): void => {
      if (running.get(id) !== conversation) return
      running.delete(id)
      tell()
    }
    return conversation.next().then(
      (step) =>
        unlessOver(() => {
          if ("question" in step) pass(handOver(request, conversation))
          else send({ jsonrpc: "2.0", id, result: mcpResult(step.reply) })
        }),
      (cause: unknown) =>
        unlessOver(() => {
          const message = cause instanceof Error ? cause.message : String(cause)
          send({ jsonrpc: "2.0", id, error: { code: INTERNAL_ERROR, message } })
        })
    )
  }

  return {
    /** Begins a call. False for any other message, which is left to the SDK. */
    take: (message: unknown): boolean => {
      if (!isPlainCall(message) || running.has(message.id)) return false
      const { name, arguments: args = {}, _meta: meta } = message.params
      const traceParent = meta?.[TRACEPARENT_META_KEY]
      const conversation = begin(name, args, {
        onProgress: progressTo(meta?.progressToken, send),
        ...(typeof traceParent === "string" && { traceParent })
      })
      running.set(message.id, conversation)
      void run(message, conversation)
      return true
    },
    /** False if no such call is running here. */
    cancel: (id: RequestId, reason: unknown): boolean => {
      const conversation = running.get(id)
      running.delete(id)
      conversation?.cancel(reason)
      return conversation !== undefined
    },
    close: (reason: unknown): void => {
      const conversations = [...running.values()]
      running.clear()
      for (const conversation of conversations) conversation.cancel(reason)
    }
  }
}

interface PlainCall extends JSONRPCRequest {
  readonly params: {
    readonly name: string
    readonly arguments?: Readonly<Record<string, unknown>>
    readonly _meta?: { readonly progressToken?: ProgressToken; readonly [key: string]: unknown }
  }
}

const fieldsOfRequest = new Set(["jsonrpc", "id", "method", "params"])

// Only calls of exactly this form. Everything else, also what is malformed, is left to the SDK.
const isPlainCall = (message: unknown): message is PlainCall => {
  if (!isObject(message) || message["method"] !== "tools/call" || message["jsonrpc"] !== "2.0") return false
  const { id, params } = message
  for (const key in message) if (!fieldsOfRequest.has(key)) return false
  if ((typeof id !== "string" && !Number.isSafeInteger(id)) || !isObject(params)) return false
  for (const key in params) if (!isPlainField(key, params[key])) return false
  return "name" in params
}

const isPlainField = (key: string, value: unknown): boolean => {
  if (key === "name") return typeof value === "string"
  if (key === "arguments") return isObject(value)
  return key === "_meta" && isObject(value) && Object.keys(value).every((name) => isPlainMeta(name, value[name]))
}

// Names of the protocol itself may mean something that only the SDK knows; other names are the client's own.
const isPlainMeta = (name: string, value: unknown): boolean =>
  name === "progressToken"
    ? typeof value === "string" || Number.isSafeInteger(value)
    : !name.startsWith("io.modelcontextprotocol/")

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
