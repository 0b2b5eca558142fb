import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http"
import { createServer as createTlsServer } from "node:https"
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from "node:net"

import {
  type Dialect,
  Host,
  type JournalEvent,
  memoryJournal,
  memoryState,
  memoryWorkspace,
  type StateFiles,
  use,
  type NetworkConfig,
  networkPolicy
} from "@haft/core"
import { type OpenHost, openHost } from "@haft/core/promise"
import { scriptedApprover } from "@haft/testing"
import * as Layer from "effect/Layer"
import type * as z from "zod"

import { Resolver, webTools } from "../src/index.ts"
import type { webConfig } from "../src/web-config.ts"

/** A server on loopback that remembers what it was asked. */
export interface LoopbackServer {
  readonly url: string
  readonly port: number
  /** `127.0.0.1:port`, as a host names it in its configuration. */
  readonly host: string
  readonly requests: Array<ReceivedRequest>
  readonly connections: () => number
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

type Answer = (request: ReceivedRequest, response: ServerResponse) => void

export const serve = (
  answer: Answer,
  tls?: { readonly key: string; readonly cert: string }
): Promise<LoopbackServer> => {
  const requests: Array<ReceivedRequest> = []
  const listener: RequestListener = (incoming, response) => {
    const chunks: Array<Buffer> = []
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
    incoming.on("end", () => {
      const { method = "", url = "", headers } = incoming
      const request = { method, path: url, headers, body: Buffer.concat(chunks).toString() }
      requests.push(request)
      answer(request, response)
    })
  }
  const server = tls === undefined ? createServer(listener) : createTlsServer({ ...tls }, listener)
  return listen(server, requests, tls === undefined ? "http" : "https")
}

/** A server that speaks bytes instead of HTTP, for what no HTTP library would send. */
export const serveBytes = (answer: (socket: Socket) => void): Promise<LoopbackServer> =>
  listen(
    createTcpServer((socket) => {
      socket.on("error", () => {})
      socket.once("data", () => answer(socket))
    }),
    [],
    "http"
  )

const listen = async (server: Server, requests: Array<ReceivedRequest>, scheme: string): Promise<LoopbackServer> => {
  const sockets = new Set<Socket>()
  let connections = 0
  server.on("connection", (socket: Socket) => {
    connections++
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `${scheme}://127.0.0.1:${port}`,
    port,
    host: `127.0.0.1:${port}`,
    requests,
    connections: () => connections,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    }
  }
}

export interface WebHost extends OpenHost {
  readonly questions: ReturnType<typeof scriptedApprover>["questions"]
  readonly events: Array<JournalEvent>
}

/** A host with the web tools alone; a person says yes to everything unless told otherwise. */
export const webHost = async (
  dialect: Dialect,
  config: z.input<typeof webConfig> = {},
  options: {
    readonly resolve?: (hostname: string) => Promise<ReadonlyArray<string>>
    readonly state?: Layer.Layer<StateFiles>
    readonly approve?: boolean
    readonly network?: NetworkConfig
  } = {}
): Promise<WebHost> => {
  const events: Array<JournalEvent> = []
  const approver = scriptedApprover(() => ({ approved: options.approve ?? true }))
  const resolve = options.resolve ?? (() => Promise.reject(new Error("tests look up no names")))
  const services = Layer.mergeAll(
    memoryWorkspace(),
    memoryJournal(events),
    options.state ?? memoryState(),
    approver.layer,
    Layer.succeed(Resolver, resolve)
  )
  const policy = options.network === undefined ? Layer.empty : networkPolicy(options.network)
  const lent = Layer.provideMerge(policy, services)
  const host = Host.layer({ dialect, plugins: [use(webTools, config)] }).pipe(Layer.provide(lent))
  return { ...(await openHost(host)), questions: approver.questions, events }
}
