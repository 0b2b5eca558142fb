import type { Readable, Writable } from "node:stream"

import {
  INVALID_REQUEST,
  type JSONRPCMessage,
  type JSONRPCRequest,
  PARSE_ERROR,
  parseJSONRPCMessage,
  type RequestId,
  serializeMessage,
  type Transport
} from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"

import { lineReader, type RefusedLine } from "./line-reader.ts"
import type { McpServerFactory } from "./server.ts"

export interface McpStdio {
  /** Resolves when the client has gone. */
  readonly closed: Promise<void>
  readonly close: () => Promise<void>
}

interface Streams {
  readonly input: Readable
  readonly output: Writable
}

/** How long calls may still be answered when the client has closed its end. */
const graceMs = 2_000
/** Nothing is read from a client that has so many bytes of answers left to read. */
const mostUnread = 16 * 1024 * 1024
/** Limits of one message. A line beyond them is skipped and refused. */
const messageLimits = { bytes: 10 * 1024 * 1024, values: 100_000, depth: 128 }

/**
 * Serves MCP on the standard streams of this process, which must then be used for nothing else. A client that closes
 * its end still gets the answers to its open requests, for a moment.
 */
export const serveMcpOnStdio = (
  factory: McpServerFactory,
  streams: Streams = { input: process.stdin, output: process.stdout }
): McpStdio => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const handle = serveStdio(factory, { transport: lineTransport(streams, resolve) })
  return { closed, close: () => handle.close() }
}

/**
 * One message a line. Not the SDK's transport, because that one keeps every message it sends until the output stream is
 * empty, which never happens under steady load, and because it reads on however many answers the client leaves unread.
 */
const lineTransport = ({ input, output }: Streams, onClosed: () => void): Transport => {
  // Requests that are not answered yet.
  const open = new Set<RequestId>()
  // Answers that are not written yet.
  let unwritten = 0
  let isClosed = false
  let isLeaving = false
  let grace: NodeJS.Timeout | undefined

  const hear = (line: string): void => {
    if (line.trim() === "") return
    const value = parsed(line)
    const message = value === undefined ? unreadable("this line is not JSON") : messageOf(value)
    if (message === undefined) return
    if (!("jsonrpc" in message)) return refuse(message)
    if ("method" in message) {
      if ("id" in message) {
        const { id } = message as JSONRPCRequest
        // Both would be answered under one id, and the client could not tell which answer belongs to which request.
        if (open.has(id)) return refuse(idInUse(id))
        open.add(id)
      } else if (message.method === "notifications/cancelled") {
        // A cancelled request is never answered.
        open.delete(message.params?.["requestId"] as RequestId)
        closeIfDone()
      }
    }
    transport.onmessage?.(message)
  }
  const refuse = ({ id, error }: Refusal): void => {
    transport.onerror?.(new Error(error.message))
    if (!isClosed) write(`${JSON.stringify({ jsonrpc: "2.0", id, error })}\n`)
  }
  const onRefused = ({ excess, outline }: RefusedLine): void => {
    const { id, method } = outline ?? {}
    // Answers and notifications are never answered.
    if (outline !== undefined && (method === undefined) !== (id === undefined)) {
      return transport.onerror?.(new Error(`a message was skipped: it is ${excess.message}`))
    }
    refuse({
      id: isRequestId(id) ? id : null,
      error: { code: INVALID_REQUEST, message: `Invalid Request: the message is ${excess.message}` }
    })
  }
  const read = lineReader({ limits: messageLimits, onLine: hear, onRefused })
  const write = (text: string, onWritten?: () => void): void => {
    output.write(text, onWritten)
    if (output.writableLength > mostUnread) input.pause()
  }
  const closeIfDone = (): void => {
    if (isLeaving && open.size === 0 && unwritten === 0) close()
  }
  const leave = (): void => {
    isLeaving = true
    grace ??= setTimeout(close, graceMs)
    closeIfDone()
  }
  const fail = (error: Error): void => {
    transport.onerror?.(error)
    close()
  }
  const close = (): void => {
    if (isClosed) return
    isClosed = true
    clearTimeout(grace)
    input.off("data", read).off("end", leave).off("close", leave).off("error", fail).pause()
    transport.onclose?.()
    onClosed()
  }
  // Answers that are ready at the same time are written together. Notifications of progress are written apart from
  // them, because a client that reads both in one piece may handle the answer first.
  let answers = ""
  const writeAnswers = (): void => {
    if (answers === "") return
    unwritten += 1
    write(answers, () => {
      unwritten -= 1
      closeIfDone()
    })
    answers = ""
  }
  const send = (message: JSONRPCMessage): void => {
    if (isClosed) throw new Error("the client has gone")
    if ("method" in message) {
      writeAnswers()
      return write(serializeMessage(message))
    }
    if (answers === "") queueMicrotask(writeAnswers)
    answers += serializeMessage(message)
    if (message.id !== undefined) open.delete(message.id)
  }

  const transport: Transport = {
    start: async () => {
      input.on("data", read).on("end", leave).on("close", leave).on("error", fail)
      output.on("error", fail).on("drain", () => isClosed || input.resume())
    },
    send: async (message) => send(message),
    close: async () => close()
  }
  return transport
}

/** The answer to a line that can't be read as a message. */
interface Refusal {
  readonly id: RequestId | null
  readonly error: { readonly code: number; readonly message: string }
}

// Not under the id itself: the client would take the refusal for the answer to its first request.
const idInUse = (id: RequestId): Refusal => ({
  id: null,
  error: {
    code: INVALID_REQUEST,
    message: `Invalid Request: the id ${JSON.stringify(id)} belongs to a request that is not answered yet`
  }
})

const unreadable = (why: string): Refusal => ({
  id: null,
  error: { code: PARSE_ERROR, message: `Parse error: ${why}` }
})

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** A message, or the refusal of what is none. Undefined for a malformed answer or notification: those get no answer. */
const messageOf = (value: unknown): JSONRPCMessage | Refusal | undefined => {
  try {
    return parseJSONRPCMessage(value)
  } catch {
    const { id, method } = (value ?? {}) as { readonly id?: unknown; readonly method?: unknown }
    if ((method === undefined) !== (id === undefined)) return undefined
    const message = "Invalid Request: this is not a message of JSON-RPC 2.0"
    return {
      id: isRequestId(id) ? id : null,
      error: { code: INVALID_REQUEST, message }
    }
  }
}

const isRequestId = (id: unknown): id is RequestId => typeof id === "string" || typeof id === "number"
