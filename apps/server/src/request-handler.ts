import type { FlowControl } from "./flow-control.ts"
import type { Gatekeeper } from "./identity.ts"
import { type BodyLimits, readJson } from "./json-body.ts"
import { Problem } from "./problem.ts"
import { check, findRoute, type Route } from "./route.ts"
import { checkOrigin } from "./same-origin.ts"

export interface HandlerOptions {
  readonly routes: ReadonlyArray<Route>
  readonly gatekeeper: Gatekeeper
  readonly allowedHosts: () => ReadonlySet<string>
  readonly flow: FlowControl
  readonly bodyLimits: BodyLimits
  /** Answers what no route does: the console's files. */
  readonly site?: (url: URL) => Response | undefined
  /** Told about every answered request, and about errors nobody expected. */
  readonly onAnswered?: (route: Route | undefined, status: number, milliseconds: number) => void
  readonly onDefect?: (error: unknown) => void
}

/** One request from door to door: name and origin, route, token, body, limits, answer. */
export const requestHandler = (options: HandlerOptions): ((request: Request) => Promise<Response>) => {
  const { routes, gatekeeper, flow } = options

  const answer = async (request: Request, begin: { route?: Route }): Promise<Response> => {
    checkOrigin(request, options.allowedHosts())
    const url = new URL(request.url)
    const found = findRoute(routes, request.method, url.pathname)
    if (found === undefined) return pageOrNothing(request.method, url)
    const { route, path } = found
    begin.route = route
    const identity = gatekeeper.identify(request)
    gatekeeper.admit(identity, route.access)
    const query = check(route.query, Object.fromEntries(url.searchParams), "query")
    const readBody = (): Promise<unknown> => readJson(request, options.bodyLimits)
    let leave: (() => void) | undefined
    const startWork = (): void => {
      leave = flow.enter(`${identity?.client ?? "nobody"} ${addressOf(request)}`)
    }
    if (route.isWork) startWork()
    try {
      const body = route.body === undefined ? {} : check(route.body, await readBody(), "body")
      const response = await route.handle({ request, url, path, query, body, readBody, startWork, identity })
      if (leave !== undefined && isStream(response)) return sendingStream(response, leave)
      leave?.()
      return response
    } catch (error) {
      leave?.()
      throw error
    }
  }

  const pageOrNothing = (method: string, url: URL): Response => {
    const page = method === "GET" || method === "HEAD" ? options.site?.(url) : undefined
    if (page === undefined) throw new Problem(404, "not_found", "There is nothing at this address.")
    return page
  }

  return async (request) => {
    const started = performance.now()
    const begin: { route?: Route } = {}
    const response = await answer(request, begin).catch((error: unknown) => {
      if (error instanceof Problem) return error.toResponse()
      if (request.signal.aborted) return clientGone.toResponse()
      // Calls that did not end in time are interrupted when the server stops.
      if (flow.isStopped()) return stopped.toResponse()
      options.onDefect?.(error)
      return new Problem(
        500,
        "internal_error",
        "The server failed because of a bug; its log has the cause."
      ).toResponse()
    })
    options.onAnswered?.(begin.route, response.status, performance.now() - started)
    return withSecurityHeaders(response)
  }
}

const clientGone = new Problem(499, "client_gone", "The client has closed the connection.")

const stopped = new Problem(503, "stopping", "The server stopped before this was done.")

// Clients that share a token are told apart by where they are; srvx says so beside the standard request.
const addressOf = (request: Request & { readonly ip?: string | undefined }): string => request.ip ?? ""

const isStream = ({ headers, body }: Response): boolean =>
  body !== null && headers.get("content-type")?.startsWith("text/event-stream") === true

/** Work that answers with a stream ends with the stream. */
const sendingStream = (response: Response, leave: () => void): Response => {
  const reader = response.body?.getReader()
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const next = await reader?.read()
        if (next?.value !== undefined) return controller.enqueue(next.value)
        controller.close()
      } catch (error) {
        controller.error(error)
      }
      leave()
    },
    cancel: async (reason) => {
      leave()
      await reader?.cancel(reason)
    }
  })
  return new Response(body, { status: response.status, headers: response.headers })
}

const contentSecurityPolicy = [
  "default-src 'self'",
  "script-src 'self'",
  // xterm.js and charts set styles on elements; no markup of ours carries any.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'"
].join("; ")

const securityHeaders: ReadonlyArray<readonly [string, string]> = [
  ["content-security-policy", contentSecurityPolicy],
  ["x-content-type-options", "nosniff"],
  ["referrer-policy", "no-referrer"],
  ["cross-origin-resource-policy", "same-origin"],
  ["cross-origin-opener-policy", "same-origin"]
]

const withSecurityHeaders = (response: Response): Response => {
  for (const [name, value] of securityHeaders) response.headers.set(name, value)
  if (!response.headers.has("cache-control")) response.headers.set("cache-control", "no-store")
  return response
}
