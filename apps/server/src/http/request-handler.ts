import { HostClosedError, type JsonLimits } from "haft/internal"
import type { ServerRequest } from "srvx"

import type { Gatekeeper, CallerIdentity } from "../identity.ts"
import type { HttpAnswer } from "./answer.ts"
import type { Arrivals } from "./connection/accept-backpressure.ts"
import type { FlowControl } from "./flow-control.ts"
import type { MemberAnswers } from "./gather.ts"
import { readJson } from "./json-body.ts"
import { ownFault, Problem } from "./problem.ts"
import { check, methodNotAllowed, type HttpRoute, routeFinder } from "./route.ts"
import { checkOrigin } from "./same-origin.ts"
import { watchedStream, watchToken } from "./token-watch.ts"

export interface HandlerOptions {
  readonly routes: ReadonlyArray<HttpRoute>
  readonly gatekeeper: Gatekeeper
  readonly allowedHosts: () => ReadonlySet<string>
  readonly flow: FlowControl
  readonly arrivals: () => Arrivals
  readonly bodyLimits: JsonLimits
  /** In a cluster: answers a request for a workspace that another member owns; undefined where this one does. */
  readonly pass?: (request: RequestForOwner) => Promise<HttpAnswer | undefined>
  /** In a cluster: asks all other members the same, for a route about all workspaces. */
  readonly askMembers?: (
    request: Omit<RequestForOwner, "workspace" | "readBody">,
    own: HttpAnswer
  ) => Promise<MemberAnswers>
  /** Answers where there is no route: the console's files. */
  readonly site?: (url: URL, acceptedEncodings?: string) => HttpAnswer | undefined
  /** Told about every answered request, and about errors nobody expected. */
  readonly onAnswered?: (route: HttpRoute | undefined, status: number, milliseconds: number) => void
  readonly onDefect?: (error: unknown) => void
}

/** A request whose sender is known, and that may belong to another member. */
export interface RequestForOwner {
  readonly request: ServerRequest
  readonly url: URL
  readonly workspace: string
  readonly identity: CallerIdentity | undefined
  readonly readBody: () => Promise<unknown>
}

/** A request that another member has passed on, after it has identified the sender. */
export interface PassedRequest {
  readonly identity: CallerIdentity | undefined
  readonly body: unknown
}

export type HandleRequest = (request: ServerRequest, passed?: PassedRequest) => Promise<HttpAnswer>

/** Handles a request from beginning to end: host and origin, route, token, limits, body, answer. */
export const requestHandler = (options: HandlerOptions): HandleRequest => {
  const { gatekeeper, flow } = options
  const findRoute = routeFinder(options.routes)

  const answer = async (
    request: ServerRequest,
    begin: { route?: HttpRoute },
    passed?: PassedRequest
  ): Promise<HttpAnswer> => {
    if (passed === undefined) checkOrigin(request, options.allowedHosts())
    const url = addressOf(request)
    const found = findRoute(request.method, url.pathname)
    if (found === undefined) return pageOrNothing(request, url)
    const { route, path } = found
    begin.route = route
    const identity = passed === undefined ? await gatekeeper.identify(request) : passed.identity
    const workspace = path["workspace"] ?? route.workspace
    gatekeeper.admit(identity, route.access, workspace)
    const given = url.search === "" ? {} : Object.fromEntries(url.searchParams)
    const query = check(route.query, given, "query")
    let read: Promise<unknown> | undefined
    const readBody = (): Promise<unknown> =>
      (read ??= passed === undefined ? readJson(request, options.bodyLimits) : Promise.resolve(passed.body))
    const works: Array<() => void> = []
    const startWork = (): void => {
      // Clients that share a token are told apart by their addresses.
      works.push(flow.enter(`${identity?.client ?? "nobody"} ${request.ip ?? ""}`))
    }
    // The response's end is that of the request: calls behind it are canceled, as when the client goes.
    const cut = (): void => void request.runtime?.node?.res?.destroy()
    const watch = identity?.token === undefined ? undefined : watchToken(() => gatekeeper.isInForce(identity), cut)
    const leave = (): void => {
      watch?.stop()
      for (const end of works) end()
    }
    try {
      // Public routes are cheap, so they don't wait while others connect.
      const turn = route.access === "public" || passed !== undefined ? undefined : options.arrivals().turn(request)
      if (turn !== undefined) await turn
      if (request.signal.aborted) throw clientGone
      if (workspace !== undefined && passed === undefined && options.pass !== undefined) {
        const elsewhere = await options.pass({ request, url, workspace, identity, readBody })
        if (elsewhere !== undefined) return withWatch(elsewhere, watch, leave)
      }
      if (route.isWork) startWork()
      const body = route.body === undefined ? {} : check(route.body, await readBody(), "body")
      const own = await route.handle({ request, path, query, body, readBody, startWork, identity })
      const said =
        route.gather === undefined || passed !== undefined || options.askMembers === undefined
          ? own
          : await route.gather(await options.askMembers({ request, url, identity }, own))
      return works.length === 0 && watch === undefined ? said : withWatch(said, watch, leave)
    } catch (error) {
      leave()
      throw error
    }
  }

  const pageOrNothing = ({ method, headers }: ServerRequest, url: URL): HttpAnswer => {
    const page = options.site?.(url, headers.get("accept-encoding") ?? "")
    if (page === undefined) throw new Problem(404, "not_found", "There is nothing at this address.")
    if (method !== "GET" && method !== "HEAD") throw methodNotAllowed("GET")
    return page
  }

  return async (request, passed) => {
    const started = performance.now()
    const begin: { route?: HttpRoute } = {}
    const said = await answer(request, begin, passed).catch((error: unknown) => {
      if (error instanceof Problem) return error.toAnswer()
      if (request.signal.aborted) return clientGone.toAnswer()
      // A server that stops interrupts calls that did not end in time: that is no bug.
      if (flow.isStopped()) return stopped.toAnswer()
      if (options.pass !== undefined && error instanceof HostClosedError) return moved.toAnswer()
      options.onDefect?.(error)
      return ownFault.toAnswer()
    })
    options.onAnswered?.(begin.route, said.status ?? 200, performance.now() - started)
    return said
  }
}

/** Ends a stream when its token does, and calls `leave` when all is sent. */
const withWatch = (
  said: HttpAnswer,
  watch: ReturnType<typeof watchToken> | undefined,
  leave: () => void
): HttpAnswer => {
  if (!(said.body instanceof ReadableStream)) return { ...said, onSent: leave }
  return { ...said, body: watchedStream(said.body, watch?.isAllowed ?? alwaysAllowed, leave) }
}

const alwaysAllowed = (): Promise<boolean> => Promise.resolve(true)

const clientGone = new Problem(499, "client_gone", "The client has closed the connection.")

const moved = new Problem(
  503,
  "workspace_moved",
  "The workspace moved to another member before this was done. Send a call again with the same request_id.",
  { "retry-after": "1" }
)

const stopped = new Problem(503, "stopping", "The server stopped before this was done.")

// srvx has parsed the address of a request that came over a connection.
const addressOf = (request: ServerRequest): URL => request._url ?? new URL(request.url)
