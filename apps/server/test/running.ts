import { connect } from "node:net"

import { temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"
import type { HaftConfig } from "haft/internal"
import { onTestFinished } from "vitest"

import { type RunningServer, serveHaft, type ServeOptions } from "../src/index.ts"

export const tokens = { agent: "agent-token-of-the-test", approver: "approver-token-of-the-test" }
type Role = keyof typeof tokens

export interface Running {
  readonly server: RunningServer
  readonly workspace: TemporaryWorkspace
  readonly base: string
  readonly defects: Array<unknown>
  readonly send: (path: string, as?: Role, init?: RequestInit) => Promise<Response>
  readonly post: (path: string, body: unknown, as?: Role, init?: RequestInit) => Promise<Response>
  /** A call in the workspace `default`, and the envelope it ends in. */
  readonly call: (tool: string, params: object, as?: Role, init?: RequestInit) => Promise<Record<string, unknown>>
}

/** A server on a free port, with a workspace that has `a.txt` in it; both are gone when the test ends. */
export const startServer = async (
  config: HaftConfig = {},
  options: Partial<ServeOptions> & { readonly workspace?: TemporaryWorkspace } = {}
): Promise<Running> => {
  const { workspace = temporaryWorkspace({ "a.txt": "one\ntwo\n" }), ...more } = options
  const defects: Array<unknown> = []
  const server = await serveHaft({
    workspaces: { default: { root: workspace.root, state: workspace.state, sandbox: "none", ...config } },
    tokens,
    version: "1.2.3",
    port: 0,
    onDefect: (error) => defects.push(error),
    ...more
  })
  onTestFinished(async () => {
    await server.stop()
    workspace.remove()
  })
  const send = (path: string, as?: Role, init: RequestInit = {}): Promise<Response> =>
    fetch(`${server.url}${path}`, {
      ...init,
      redirect: "manual",
      headers: {
        ...(as !== undefined && { authorization: `Bearer ${tokens[as]}` }),
        ...(init.headers as Record<string, string> | undefined)
      }
    })
  const post: Running["post"] = (path, body, as = "agent", init = {}) =>
    send(path, as, {
      method: "POST",
      body: JSON.stringify(body),
      ...init,
      headers: { "content-type": "application/json", ...(init.headers as Record<string, string> | undefined) }
    })
  return {
    server,
    workspace,
    base: "/v1/workspaces/default",
    defects,
    send,
    post,
    call: async (tool, params, as, init) =>
      (await (await post("/v1/workspaces/default/calls", { tool, params }, as, init)).json()) as Record<string, unknown>
  }
}

/** Sends raw text over a socket, also what is no HTTP; resolves with everything that came back until it was closed. */
export const sendRaw = (url: string, text: string, { end = true } = {}): Promise<string> => {
  const { hostname, port } = new URL(url)
  const { promise, resolve } = Promise.withResolvers<string>()
  const socket = connect(Number(port), hostname, () => void socket.write(text))
  let heard = ""
  socket.on("data", (chunk) => {
    heard += chunk.toString()
    if (end && heard.includes("\r\n\r\n")) setTimeout(() => socket.end(), 20)
  })
  socket.on("error", () => {})
  socket.on("close", () => resolve(heard))
  return promise
}

/** How many calls the server works on, as its metrics tell. */
export const inFlight = async (send: Running["send"]): Promise<number> =>
  Number(/^haft_calls_in_flight (\d+)$/m.exec(await (await send("/metrics", "approver")).text())?.[1])

export interface ServerSentEvent {
  readonly id?: string
  readonly event?: string
  readonly data?: { readonly type: string; readonly [field: string]: unknown }
}

/** Reads server-sent events until `isEnough` of them. */
export const readEvents = async (
  response: Response,
  isEnough: (events: ReadonlyArray<ServerSentEvent>) => boolean
): Promise<ReadonlyArray<ServerSentEvent>> => {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ""
  for (;;) {
    const { done, value } = await reader.read()
    text += value ?? ""
    const events = text
      .split("\n\n")
      .slice(0, -1)
      .map(parseEvent)
      .filter(({ data }) => data !== undefined)
    if (!done && !isEnough(events)) continue
    await reader.cancel()
    return events
  }
}

const parseEvent = (block: string): ServerSentEvent => {
  const fields = block
    .split("\n")
    .map((line) => [line.slice(0, line.indexOf(": ")), line.slice(line.indexOf(": ") + 2)])
  const { data, ...rest } = Object.fromEntries(fields) as { data?: string }
  return { ...rest, ...(data !== undefined && { data: JSON.parse(data) as { type: string } }) }
}
