import { type ToolError, toolError } from "@haft/core"
import * as Effect from "effect/Effect"

export type Headers = Readonly<Record<string, string>>

/** Headers that belong to the connection, not to the caller, or would let a caller pose as another host. */
const reserved = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "via"
])

/** Headers that say nothing about who is asking: the only ones that follow a redirect to another origin. */
const impersonal = ["accept", "accept-language", "accept-encoding", "content-type", "user-agent"]

/** Checks the headers a caller gave; names come out in lower case. */
export const checkHeaders = (given: Headers): Effect.Effect<Headers, ToolError<"invalid_params">> => {
  const checked = new Map<string, string>()
  for (const [name, value] of Object.entries(given)) {
    const lower = name.toLowerCase()
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(lower)) return refuse(name, "is not a header name")
    if (!/^[\t\u0020-\u007E\u0080-\u00FF]*$/.test(value))
      return refuse(name, "has a value with characters no header has")
    if (reserved.has(lower)) return refuse(name, "is set by the connection and can't be given")
    if (checked.has(lower)) return refuse(name, "is given twice")
    checked.set(lower, value)
  }
  return Effect.succeed(Object.fromEntries(checked))
}

/** Headers kept when a request is redirected to another origin. */
export const withoutCredentials = (headers: Headers): Headers =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => impersonal.includes(name)))

/** True when a shared answer would do: nothing in the request says who is asking. */
export const isImpersonal = (headers: Headers): boolean =>
  Object.keys(headers).every((name) => impersonal.includes(name))

const refuse = (name: string, problem: string): Effect.Effect<never, ToolError<"invalid_params">> =>
  toolError("invalid_params", `parameter 'headers': ${JSON.stringify(name)} ${problem}`, {
    suggestion: "Leave this header out, or correct it.",
    details: { parameter: `headers.${name}` }
  })
