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
import { plainCalls, type PlainCalls } from "./plain-calls.ts"
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
  const handle = serveStdio(factory, { transport: lineTransport(streams, resolve, factory.plainCalls) })
  return { closed, close: () => handle.close() }
}

/**
 * One message a line. Not the SDK's transport, because that one keeps every message it sends until the output stream is
 * empty, which never happens under steady load, and because it reads on however many answers the client leaves unread.
 */
const lineTransport = ({ input, output }: Streams, onClosed: () => void, calls?: PlainCalls): Transport => {
  // Requests that are not answered yet.
  const open = new Set<RequestId>()
  let isClosed = false
  let isLeaving = false
  let grace: NodeJS.Timeout | undefined
  // The id of the request `initialize`.
  let opening: RequestId | undefined
  let plain: ReturnType<typeof plainCalls> | undefined

  const hear = (line: string): void => {
    if (line.trim() === "") return
    const value = parsed(line)
    const id = idOf(value)
    // Its answer could not be told from the other's.
    if (id !== undefined && open.has(id)) return refuse(inUse(id))
    if (value !== undefined && plain?.take(value) === true) return void open.add((value as JSONRPCRequest).id)
    const message = value === undefined ? unreadable("this line is not JSON") : messageOf(value)
    if (message === undefined) return
    if (!("jsonrpc" in message)) return refuse(message)
    if ("method" in message) {
      if ("id" in message) {
        const { id, method } = message as JSONRPCRequest
        open.add(id)
        if (method === "initialize") opening = id
      } else if (message.method === "notifications/cancelled") {
        const { requestId, reason } = (message.params ?? {}) as { requestId: RequestId; reason?: unknown }
        // A cancelled request is never answered.
        settle(requestId)
        if (plain?.cancel(requestId, reason) === true) return
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
    plain?.close(new Error("the client has gone"))
    input.off("data", read).off("end", leave).off("close", leave).off("error", fail).pause()
    transport.onclose?.()
    onClosed()
  }
  // Answers that are ready at the same time are written together. Notifications of progress are written apart from
  // them, because a client that reads both in one piece may handle the answer first.
  let answers = ""
  let answered: Array<RequestId | undefined> = []
  const writeAnswers = (): void => {
    if (answered.length === 0) return
    const ids = answered
    write(answers, () => ids.forEach((id) => id !== undefined && settle(id)))
    answers = ""
    answered = []
  }
  const send = (message: JSONRPCMessage): void => {
    if (isClosed) throw new Error("the client has gone")
    if ("method" in message) {
      writeAnswers()
      return write(serializeMessage(message))
    }
    const { id } = message
    answers += serializeMessage(message)
    if (answered.push(id) === 1) queueMicrotask(writeAnswers)
    // Only the protocols of 2025 begin with `initialize`; once that is answered, plain calls can be taken. A second
    // `initialize` changes nothing, as the calls that run are known to `plain`.
    if (plain === undefined && calls !== undefined && id === opening && "result" in message) {
      plain = plainCalls(calls, {
        send: (answer) => isClosed || send(answer),
        pass: (request) => transport.onmessage?.(request)
      })
    }
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

const unreadable = (why: string): Refusal => ({
  id: null,
  error: { code: PARSE_ERROR, message: `Parse error: ${why}` }
})

const inUse = (id: RequestId): Refusal => ({
  id: null,
  error: { code: INVALID_REQUEST, message: `Invalid Request: a request with the id ${id} is not answered yet` }
})

/** The id of a request; undefined for any other message. */
const idOf = (value: unknown): RequestId | undefined => {
  const { id, method } = (value ?? {}) as { readonly id?: RequestId; readonly method?: unknown }
  return method === undefined ? undefined : id
}

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
