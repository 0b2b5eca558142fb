import { isIP } from "node:net"
import { networkInterfaces } from "node:os"

import { isBlockedPort, isLocalName, isPublicAddress, type ToolError, toolError } from "@haft/core"
import * as Effect from "effect/Effect"

import { bareHost, isNamedPrivate } from "./host-list.ts"

const maxLength = 8192

/**
 * Parses a URL, once and for all: what comes out is what is shown, checked and connected to. Without its fragment and
 * without the dot at the end of its host.
 */
export const parseTarget = (
  text: string,
  namedPrivate: ReadonlyArray<string>
): Effect.Effect<URL, ToolError<"invalid_url" | "url_blocked">> => {
  if (text.length > maxLength) return invalid(`it has ${text.length} characters, more than ${maxLength}`)
  // The parser would silently drop tabs and line breaks, and trim the rest.
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u0020\u007F]/.test(text)) return invalid("it contains white space or control characters")
  if (!/^https?:\/\//i.test(text)) return invalid("it does not start with http:// or https://")
  if (!URL.canParse(text)) return invalid("it is malformed")
  const url = new URL(text)
  if (url.username !== "" || url.password !== "") return invalid("it contains a user name or password")
  url.hash = ""
  url.hostname = bareHost(url.hostname)
  if (!isReachable(url, namedPrivate)) return blocked(url, `${url.hostname} is not a public host`)
  if (isBlockedPort(Number(url.port || 80)) && !isNamedPrivate(namedPrivate, url)) {
    return blocked(url, `port ${url.port} belongs to another protocol`, "Use a port of a web server.")
  }
  return Effect.succeed(url)
}

/** Fails for a target that the host's network policy refuses. */
export const refuseBy = (
  refusal: (url: URL) => string | undefined,
  url: URL
): Effect.Effect<void, ToolError<"url_blocked">> => {
  const problem = refusal(url)
  return problem === undefined ? Effect.void : blocked(url, problem, "Ask the person who runs the host to allow it.")
}

/** The address a URL spells out instead of a name. */
export const literalAddress = (url: URL): string | undefined => {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1")
  return isIP(host) === 0 ? undefined : host
}

const isReachable = (url: URL, namedPrivate: ReadonlyArray<string>): boolean => {
  if (isNamedPrivate(namedPrivate, url)) return true
  const address = literalAddress(url)
  if (address !== undefined) return isPublicAddress(address) && !ownAddresses().includes(address)
  return !isLocalName(url.hostname)
}

/** Addresses of this machine. One may be public, and its services take requests from here for those of a neighbor. */
export const ownAddresses = (): ReadonlyArray<string> =>
  Object.values(networkInterfaces()).flatMap((list = []) => list.map(({ address }) => address))

const invalid = (problem: string): Effect.Effect<never, ToolError<"invalid_url">> =>
  toolError("invalid_url", `the URL can't be used: ${problem}`, {
    suggestion: "Give a whole http:// or https:// URL without spaces and without credentials.",
    details: { parameter: "url", reason: problem }
  })

export const blocked = (
  url: URL,
  problem: string,
  suggestion = "Only public addresses can be fetched. The host's configuration can name private hosts that may be reached."
): Effect.Effect<never, ToolError<"url_blocked">> =>
  toolError("url_blocked", `${url.href} is not fetched: ${problem}`, {
    suggestion,
    details: { url: url.href, reason: problem }
  })
