import type { Readable, Writable } from "node:stream"

import {
  INVALID_REQUEST,
  type JSONRPCMessage,
  PARSE_ERROR,
  parseJSONRPCMessage,
  type RequestId,
  serializeMessage,
  type Transport
} from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"

import { lineReader } from "./line-reader.ts"
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

const graceMs = 2_000
/** A client that leaves so much unread is not listened to until it has read it. */
const mostUnread = 16 * 1024 * 1024
/** What is longer is no message, and would fill the memory. */
const longestLine = 10 * 1024 * 1024

/**
 * Speaks MCP on this process's standard streams, which must then carry nothing else. A client that closes its end
 * still gets the answers to what it asked before, for a moment.
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
 * One message a line. A transport of our own, because the SDK's keeps each message it sends until the stream has once
 * been empty, which under steady load it never is, and reads on however much the client leaves unread.
 */
const lineTransport = ({ input, output }: Streams, onClosed: () => void): Transport => {
  const open = new Set<RequestId>()
  let isClosed = false
  let isLeaving = false
  let grace: NodeJS.Timeout | undefined

  const hear = (line: string): void => {
    const message = messageOf(line)
    if (message === undefined) return
    if (!("jsonrpc" in message)) return refuse(message)
    if ("method" in message) {
      if ("id" in message) open.add(message.id)
      // A cancelled request is never answered.
      else if (message.method === "notifications/cancelled") settle(message.params?.["requestId"] as RequestId)
    }
    transport.onmessage?.(message)
  }
  const refuse = ({ id, error }: Refusal): void => {
    transport.onerror?.(new Error(error.message))
    if (!isClosed) write(`${JSON.stringify({ jsonrpc: "2.0", id, error })}\n`)
  }
  const onTooLong = (): void => {
    refuse(unreadable(`a line is longer than ${longestLine} bytes`))
    close()
  }
  const read = lineReader({ longestLine, onLine: hear, onTooLong })
  const write = (text: string, onWritten?: () => void): void => {
    output.write(text, onWritten)
    if (output.writableLength > mostUnread) input.pause()
  }
  const settle = (id: RequestId): void => {
    open.delete(id)
    if (isLeaving && open.size === 0) close()
  }
  const leave = (): void => {
    isLeaving = true
    if (open.size === 0) return close()
    grace ??= setTimeout(close, graceMs)
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
  // Answers that are ready at the same time leave together, but not with word of progress: a client that reads both at
  // once may take the answer first.
  const gather = (): void => {
    if (output.writableCorked > 0) return
    output.cork()
    process.nextTick(() => output.uncork())
  }

  const transport: Transport = {
    start: async () => {
      input.on("data", read).on("end", leave).on("close", leave).on("error", fail)
      output.on("error", fail).on("drain", () => isClosed || input.resume())
    },
    send: async (message) => {
      if (isClosed) throw new Error("the client has gone")
      if ("method" in message) {
        output.uncork()
        write(serializeMessage(message))
      } else {
        const { id } = message
        gather()
        write(serializeMessage(message), () => id !== undefined && settle(id))
      }
    },
    close: async () => close()
  }
  return transport
}

/** The answer to a line that is no message. */
interface Refusal {
  readonly id: RequestId | null
  readonly error: { readonly code: number; readonly message: string }
}

const unreadable = (why: string): Refusal => ({
  id: null,
  error: { code: PARSE_ERROR, message: `Parse error: ${why}` }
})

/** Nothing where a line is empty, and where it is an answer or a notification: those are never answered. */
const messageOf = (line: string): JSONRPCMessage | Refusal | undefined => {
  if (line.trim() === "") return undefined
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return unreadable("this line is not JSON")
  }
  try {
    return parseJSONRPCMessage(value)
  } catch {
    const { id, method } = (value ?? {}) as { readonly id?: unknown; readonly method?: unknown }
    if ((method === undefined) !== (id === undefined)) return undefined
    const message = "Invalid Request: this is not a message of JSON-RPC 2.0"
    return {
      id: typeof id === "string" || typeof id === "number" ? id : null,
      error: { code: INVALID_REQUEST, message }
    }
  }
}
