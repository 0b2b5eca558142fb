import type { Readable, Writable } from "node:stream"

import {
  type JSONRPCMessage,
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
    if (message instanceof Error) return transport.onerror?.(message)
    if ("method" in message) {
      if ("id" in message) open.add(message.id)
      // A cancelled request is never answered.
      else if (message.method === "notifications/cancelled") settle(message.params?.["requestId"] as RequestId)
    }
    transport.onmessage?.(message)
  }
  const read = lineReader({ longestLine, onLine: hear, onTooLong: () => fail(new Error("a line is too long")) })
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
        output.write(serializeMessage(message))
      } else {
        const { id } = message
        gather()
        output.write(serializeMessage(message), () => id !== undefined && settle(id))
      }
      if (output.writableLength > mostUnread) input.pause()
    },
    close: async () => close()
  }
  return transport
}

/** Nothing where the line is no JSON: a program may have said something there that was not meant for us. */
const messageOf = (line: string): JSONRPCMessage | Error | undefined => {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return undefined
  }
  try {
    return parseJSONRPCMessage(value)
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
