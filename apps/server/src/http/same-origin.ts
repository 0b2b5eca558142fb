import type { ServerRequest } from "srvx"

import { Problem } from "./problem.ts"

/**
 * Keeps other web sites out. A site whose own name points at this machine (DNS rebinding) is recognized by the Host
 * header, one that sends requests across origins by the Origin header.
 */
export const checkOrigin = (request: ServerRequest, allowedHosts: ReadonlySet<string>): void => {
  if (!allowedHosts.has(hostAskedFor(request))) {
    throw new Problem(
      421,
      "wrong_host",
      "This server does not answer under that name. Whoever runs it can add the name with --also-known-as."
    )
  }
  const origin = request.headers.get("origin")
  if (origin !== null && !allowedHosts.has(hostOf(origin))) {
    throw new Problem(403, "wrong_origin", "Requests from other web sites are refused.")
  }
  if (request.headers.get("sec-fetch-site") === "cross-site" && request.method !== "GET") {
    throw new Problem(403, "wrong_origin", "Requests from other web sites are refused.")
  }
}

// In `GET http://host/path` the host of the request line overrides the Host header.
const hostAskedFor = (request: ServerRequest): string => {
  const target = request.runtime?.node?.req.url ?? "/"
  return /^[/*]/.test(target) ? (request.headers.get("host") ?? "").toLowerCase() : hostOf(target)
}

/** The Host headers that a server on this address accepts. `addresses` are used where it listens on all of them. */
export const hostNames = (
  hostname: string,
  port: number,
  {
    also = [],
    addresses = []
  }: { readonly also?: ReadonlyArray<string>; readonly addresses?: ReadonlyArray<string> } = {}
): ReadonlySet<string> => {
  const isLoopback = ["127.0.0.1", "localhost", "::1", "[::1]"].includes(hostname)
  const listensEverywhere = isEverywhere(hostname)
  // Addresses are safe to accept: another site can make its own name lead here, but not an address.
  const names = [
    ...(isLoopback || listensEverywhere ? ["127.0.0.1", "localhost", "::1"] : [hostname]),
    ...(listensEverywhere ? addresses : [])
  ].map(bracketed)
  const plain = port === 80 ? names : []
  // Browsers leave out the standard ports.
  const others = also.flatMap((name) => [name, name.replace(/:(?:80|443)$/, "")])
  return new Set([...names.map((name) => `${name}:${port}`), ...plain, ...others].map((name) => name.toLowerCase()))
}

/** Tests for an address that listens on all addresses of the machine. */
export const isEverywhere = (host: string): boolean => ["0.0.0.0", "::", "[::]"].includes(host)

/** A host as it stands in URLs: an IPv6 address in brackets. */
export const bracketed = (host: string): string => (host.includes(":") && !host.startsWith("[") ? `[${host}]` : host)

const hostOf = (origin: string): string => {
  try {
    return new URL(origin).host.toLowerCase()
  } catch {
    return ""
  }
}
