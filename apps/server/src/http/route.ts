import { plainIssues } from "haft/internal"
import type { ServerRequest } from "srvx"
import * as z from "zod"

import type { CallerIdentity } from "../identity.ts"
import type { HttpAnswer } from "./answer.ts"
import type { MemberAnswers } from "./gather.ts"
import { Problem } from "./problem.ts"

/** Role that may use a route. An approver may do what an agent may, and an admin what an approver may; never the other way. */
export type Access = "public" | "agent" | "approver" | "admin"

export interface RouteRequest<Query, Body> {
  readonly request: ServerRequest
  /** The values of the path's `{name}`s. */
  readonly path: Readonly<Record<string, string>>
  readonly query: Query
  readonly body: Body
  /** Reads the JSON body, for routes that declare no schema for it. The same limits apply. */
  readonly readBody: () => Promise<unknown>
  /** Counts one more call against the limits of calls in flight, until the request is answered. Fails at the limit. */
  readonly startWork: () => void
  /** Absent on public routes. */
  readonly identity: CallerIdentity | undefined
}

/** One route as data: the router follows it, and the OpenAPI document is made from it. */
export interface HttpRoute {
  readonly method: "GET" | "POST" | "PUT" | "DELETE"
  /** `/v1/workspaces/{workspace}/tools`; a last `{name…}` takes the rest of the path, slashes included. */
  readonly path: string
  readonly summary: string
  readonly access: Access
  /** The workspace that the route is about, where its path does not name one. */
  readonly workspace?: string
  readonly query: z.ZodObject
  /** Request headers that change the answer, with descriptions, for the OpenAPI document. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body: z.ZodObject | undefined
  readonly replies: Readonly<Record<number, RouteReply>>
  /** True if every request counts as a call, see `startWork`. */
  readonly isWork: boolean
  /** For a route about all workspaces: merges the answers of all members of a cluster. */
  readonly gather?: (answers: MemberAnswers) => HttpAnswer | Promise<HttpAnswer>
  readonly handle: (request: RouteRequest<unknown, unknown>) => Promise<HttpAnswer>
}

export interface RouteReply {
  readonly description: string
  /** For JSON only; text and streams have none. */
  readonly schema?: z.ZodType
  /** JSON when absent; empty for a reply without a body. */
  readonly contentTypes?: ReadonlyArray<string>
}

const nothing = z.strictObject({})

/** Makes a route, with the handler's types taken from its schemas. */
export const defineRoute = <Query extends z.ZodObject = typeof nothing, Body extends z.ZodObject = typeof nothing>(
  route: Omit<HttpRoute, "query" | "body" | "handle" | "isWork"> & {
    readonly query?: Query
    readonly body?: Body
    readonly isWork?: boolean
    readonly handle: (request: RouteRequest<z.output<Query>, z.output<Body>>) => HttpAnswer | Promise<HttpAnswer>
  }
): HttpRoute => ({
  ...route,
  query: route.query ?? nothing,
  body: route.body,
  isWork: route.isWork ?? false,
  handle: async (request) => route.handle(request as RouteRequest<z.output<Query>, z.output<Body>>)
})

/** Checks a part of a request. Fails with 400, naming the fields that are wrong. */
export const check = <Schema extends z.ZodType>(schema: Schema, value: unknown, what: string): z.output<Schema> => {
  const checked = schema.safeParse(value)
  if (checked.success) return checked.data
  const issues = plainIssues(checked.error).map(({ path, message }) => `${[what, ...path].join(".")}: ${message}`)
  throw new Problem(400, "invalid_request", issues.join("; "))
}

/** Finds the route of a request. Fails with 405 where only the method is wrong. */
export type FindRoute = (method: string, pathname: string) => FoundRoute | undefined

export interface FoundRoute {
  readonly route: HttpRoute
  readonly path: Readonly<Record<string, string>>
}

/** Parses the paths of all routes once, so that they are only compared for each request. */
export const routeFinder = (routes: ReadonlyArray<HttpRoute>): FindRoute => {
  const patterns = routes.map((route) => ({ route, parts: route.path.split("/").map(partOf) }))
  return (method, pathname) => {
    const given = pathname.split("/")
    const wanted = method === "HEAD" ? "GET" : method
    const found = patterns.find(({ route, parts }) => route.method === wanted && isMatch(parts, given))
    if (found !== undefined) return { route: found.route, path: valuesOf(found.parts, given) }
    const matching = patterns.filter(({ parts }) => isMatch(parts, given))
    if (matching.length === 0) return undefined
    const allow = [...new Set(matching.map(({ route }) => route.method))].join(", ")
    throw methodNotAllowed(allow)
  }
}

export const methodNotAllowed = (allow: string): Problem =>
  new Problem(405, "method_not_allowed", `Use ${allow} here.`, { allow })

/** A part of a route's path: a fixed `word`, a `{name}`, or with `isRest` a `{name…}`. */
interface PathPart {
  readonly word?: string
  readonly name?: string
  readonly isRest?: boolean
}

const partOf = (text: string): PathPart => {
  const value = /^\{(\w+)(…?)\}$/.exec(text)
  return value === null ? { word: text } : { name: value[1] ?? "", isRest: value[2] === "…" }
}

const isMatch = (parts: ReadonlyArray<PathPart>, given: ReadonlyArray<string>): boolean => {
  const takesRest = parts.at(-1)?.isRest === true
  if (takesRest ? given.length < parts.length : given.length !== parts.length) return false
  return parts.every(({ word }, index) => (word === undefined ? given[index] !== "" : word === given[index]))
}

const valuesOf = (parts: ReadonlyArray<PathPart>, given: ReadonlyArray<string>): Readonly<Record<string, string>> => {
  const values: Record<string, string> = {}
  for (const [index, { name, isRest }] of parts.entries()) {
    if (name !== undefined) values[name] = decodePart(isRest === true ? given.slice(index).join("/") : given[index])
  }
  return values
}

const decodePart = (part = ""): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new Problem(400, "invalid_request", "The address has a broken % escape.")
  }
}
