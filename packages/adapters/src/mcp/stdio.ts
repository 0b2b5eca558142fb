import { PassThrough, type Readable, type Writable } from "node:stream"

import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type RequestId,
  serializeMessage,
  type Transport
} from "@modelcontextprotocol/server"
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio"

import type { McpServerFactory } from "./server.ts"

export interface McpStdio {
  /** Resolves when the client has gone. */
  readonly closed: Promise<void>
  readonly close: () => Promise<void>
}

const graceMs = 2_000
/** A client that leaves so much unread is not listened to until it has read it. */
const mostUnread = 16 * 1024 * 1024

/**
 * Speaks MCP on this process's standard streams, which must then carry nothing else. A client that closes its end
 * still gets the answers to what it asked before, for a moment.
 */
export const serveMcpOnStdio = (
  factory: McpServerFactory,
  streams: { readonly input: Readable; readonly output: Writable } = { input: process.stdin, output: process.stdout }
): McpStdio => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const { output } = streams
  const input = new PassThrough()
  let isListening = false
  const hold = (): void => {
    isListening = false
    streams.input.unpipe(input)
    output.once("drain", listen)
  }
  const listen = (): void => {
    isListening = true
    streams.input.pipe(input, { end: false })
  }
  // Answers that are ready at the same time leave together, but not with word of progress: a client that reads both at
  // once may take the answer first.
  const gather = (): void => {
    if (output.writableCorked > 0) return
    output.cork()
    process.nextTick(() => output.uncork())
  }
  const { transport, whenAnswered } = watched(new StdioServerTransport(input, output), {
    write: (line, { isAnswer, onWritten }) => {
      if (isAnswer) gather()
      else output.uncork()
      output.write(line, onWritten)
      if (isListening && output.writableLength > mostUnread) hold()
    },
    onClosed: resolve
  })
  const handle = serveStdio(factory, { transport })
  listen()
  const endOnceAnswered = (): unknown => {
    // What the client wrote last may still be on its way to the transport.
    if (input.readableLength + input.writableLength > 0) return setImmediate(endOnceAnswered)
    const grace = setTimeout(() => input.end(), graceMs)
    return whenAnswered(() => {
      clearTimeout(grace)
      input.end()
    })
  }
  streams.input.once("end", endOnceAnswered)
  return { closed, close: () => handle.close() }
}

interface Watch {
  readonly write: (line: string, about: { readonly isAnswer: boolean; readonly onWritten: () => void }) => void
  readonly onClosed: () => void
}

/**
 * The same transport, with word of when no request is left without an answer. Writing is ours: the SDK's `send` keeps
 * each message until the stream has once been empty, which under steady load it never is.
 */
const watched = (inner: Transport, { write, onClosed }: Watch) => {
  const open = new Set<RequestId>()
  let onAnswered: (() => void) | undefined
  const settle = (id: RequestId): void => {
    open.delete(id)
    if (open.size === 0) onAnswered?.()
  }
  const transport: Transport = {
    start: () => {
      // The SDK's transports are no event targets: they have these properties and nothing else.
      Object.assign(inner, {
        onclose: () => {
          transport.onclose?.()
          onClosed()
        },
        onerror: (error) => transport.onerror?.(error),
        onmessage: (message) => {
          if (isJSONRPCRequest(message)) open.add(message.id)
          // A cancelled request is never answered.
          if (isJSONRPCNotification(message) && message.method === "notifications/cancelled") {
            settle(message.params?.["requestId"] as RequestId)
          }
          transport.onmessage?.(message)
        }
      } satisfies Partial<Transport>)
      return inner.start()
    },
    send: async (message) => {
      const answered = "method" in message ? undefined : message.id
      write(serializeMessage(message), {
        isAnswer: answered !== undefined,
        onWritten: () => answered !== undefined && settle(answered)
      })
    },
    close: () => inner.close()
  }
  const whenAnswered = (then: () => void): void => {
    if (open.size === 0) then()
    else onAnswered = then
  }
  return { transport, whenAnswered }
}
