import type { ServerRequest } from "srvx"

import { Problem } from "./problem.ts"

/**
 * Keeps other web sites out. A page that had its own name point at this machine is told apart by the Host header,
 * one that sends requests across origins by the Origin header.
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

// A whole address in the first line goes before the Host header.
const hostAskedFor = (request: ServerRequest): string => {
  const target = request.runtime?.node?.req.url ?? "/"
  return /^[/*]/.test(target) ? (request.headers.get("host") ?? "").toLowerCase() : hostOf(target)
}

/** The names a server on this address goes by, with the addresses of this machine where it listens on all of them. */
export const hostNames = (
  hostname: string,
  port: number,
  {
    also = [],
    addresses = []
  }: { readonly also?: ReadonlyArray<string>; readonly addresses?: ReadonlyArray<string> } = {}
): ReadonlySet<string> => {
  const isLoopback = ["127.0.0.1", "localhost", "::1", "[::1]"].includes(hostname)
  const isEverywhere = ["0.0.0.0", "::", "[::]"].includes(hostname)
  // Another site can make its own name lead here, but never an address.
  const names = [
    ...(isLoopback || isEverywhere ? ["127.0.0.1", "localhost", "::1"] : [hostname]),
    ...(isEverywhere ? addresses : [])
  ].map(bracketed)
  const plain = port === 80 ? names : []
  // Browsers leave out the port that goes without saying.
  const others = also.flatMap((name) => [name, name.replace(/:(?:80|443)$/, "")])
  return new Set([...names.map((name) => `${name}:${port}`), ...plain, ...others].map((name) => name.toLowerCase()))
}

/** An address as URLs have it. */
export const bracketed = (host: string): string => (host.includes(":") && !host.startsWith("[") ? `[${host}]` : host)

const hostOf = (origin: string): string => {
  try {
    return new URL(origin).host.toLowerCase()
  } catch {
    return ""
  }
}
