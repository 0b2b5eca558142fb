import * as z from "zod"

import type { Identity } from "./identity.ts"
import { Problem } from "./problem.ts"

/** Who may use a route. An approver may do what an agent may; an agent never what an approver may. */
export type Access = "public" | "agent" | "approver"

export interface RouteRequest<Query, Body> {
  readonly request: Request
  readonly url: URL
  /** What stood where the path has `{name}`. */
  readonly path: Readonly<Record<string, string>>
  readonly query: Query
  readonly body: Body
  /** The JSON body of a route that declares none, within the limits of all bodies. */
  readonly readBody: () => Promise<unknown>
  /** Counts the request, from now on and until it is answered, against the calls a client may have in flight. */
  readonly startWork: () => void
  /** Absent on public routes. */
  readonly identity: Identity | undefined
}

/** One route as data: the router follows it, and the OpenAPI document is made from it. */
export interface Route {
  readonly method: "GET" | "POST" | "DELETE"
  /** `/v1/workspaces/{workspace}/tools`; a last `{name…}` takes the rest of the path, slashes included. */
  readonly path: string
  readonly summary: string
  readonly access: Access
  readonly query: z.ZodObject
  readonly body: z.ZodObject | undefined
  readonly replies: Readonly<Record<number, RouteReply>>
  /** Whether every request is work, see `startWork`. */
  readonly isWork: boolean
  readonly handle: (request: RouteRequest<unknown, unknown>) => Promise<Response>
}

export interface RouteReply {
  readonly description: string
  /** Of a JSON reply; a reply without one is text or a stream. */
  readonly schema?: z.ZodType
  readonly contentType?: string
}

const nothing = z.strictObject({})

/** Makes a route, with the handler's types taken from its schemas. */
export const defineRoute = <Query extends z.ZodObject = typeof nothing, Body extends z.ZodObject = typeof nothing>(
  route: Omit<Route, "query" | "body" | "handle" | "isWork"> & {
    readonly query?: Query
    readonly body?: Body
    readonly isWork?: boolean
    readonly handle: (request: RouteRequest<z.output<Query>, z.output<Body>>) => Response | Promise<Response>
  }
): Route => ({
  ...route,
  query: route.query ?? nothing,
  body: route.body,
  isWork: route.isWork ?? false,
  handle: async (request) => route.handle(request as RouteRequest<z.output<Query>, z.output<Body>>)
})

/** A value of a request, checked; what is wrong with it is told by name. */
export const check = <Schema extends z.ZodType>(schema: Schema, value: unknown, what: string): z.output<Schema> => {
  const checked = schema.safeParse(value)
  if (checked.success) return checked.data
  const issues = checked.error.issues.map(({ path, message }) => `${[what, ...path].join(".")}: ${message}`)
  throw new Problem(400, "invalid_request", issues.join("; "))
}

/** Finds the route of a request. Fails with 405 where only the method is wrong. */
export const findRoute = (
  routes: ReadonlyArray<Route>,
  method: string,
  pathname: string
): { readonly route: Route; readonly path: Readonly<Record<string, string>> } | undefined => {
  const matching = routes.flatMap((route) => {
    const path = matchPath(route.path, pathname)
    return path === undefined ? [] : [{ route, path }]
  })
  const found = matching.find(({ route }) => route.method === method || (method === "HEAD" && route.method === "GET"))
  if (found !== undefined || matching.length === 0) return found
  const allow = [...new Set(matching.map(({ route }) => route.method))].join(", ")
  throw new Problem(405, "method_not_allowed", `Use ${allow} here.`, { allow })
}

const matchPath = (pattern: string, pathname: string): Record<string, string> | undefined => {
  const wanted = pattern.split("/")
  const given = pathname.split("/")
  const path: Record<string, string> = {}
  for (const [index, part] of wanted.entries()) {
    const value = given[index]
    if (value === undefined) return undefined
    const name = /^\{(\w+)(…?)\}$/.exec(part)
    if (name === null) {
      if (part !== value) return undefined
      continue
    }
    if (value === "") return undefined
    const isRest = name[2] === "…"
    path[name[1] ?? ""] = decodePart(isRest ? given.slice(index).join("/") : value)
    if (isRest) return path
  }
  return given.length === wanted.length ? path : undefined
}

const decodePart = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new Problem(400, "invalid_request", "The address has a broken % escape.")
  }
}
