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
    const { route, path } = findRoute(routes, request.method, url.pathname)
    begin.route = route
    const identity = gatekeeper.identify(request)
    gatekeeper.admit(identity, route.access)
    const query = check(route.query, Object.fromEntries(url.searchParams), "query")
    const handle = async (): Promise<Response> => {
      const body =
        route.body === undefined ? {} : check(route.body, await readJson(request, options.bodyLimits), "body")
      return route.handle({ request, url, path, query, body, identity })
    }
    return route.isWork ? flow.run(identity?.client ?? "nobody", handle) : handle()
  }

  return async (request) => {
    const started = performance.now()
    const begin: { route?: Route } = {}
    const response = await answer(request, begin).catch((error: unknown) => {
      if (error instanceof Problem) return error.toResponse()
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
