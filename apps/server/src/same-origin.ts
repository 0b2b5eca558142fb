import { Problem } from "./problem.ts"

/**
 * Keeps other web sites out. A page that had its own name point at this machine is told apart by the Host header,
 * one that sends requests across origins by the Origin header.
 */
export const checkOrigin = (request: Request, allowedHosts: ReadonlySet<string>): void => {
  const host = (request.headers.get("host") ?? "").toLowerCase()
  if (!allowedHosts.has(host)) {
    throw new Problem(421, "wrong_host", "This server does not answer under that name.")
  }
  const origin = request.headers.get("origin")
  if (origin !== null && !allowedHosts.has(hostOf(origin))) {
    throw new Problem(403, "wrong_origin", "Requests from other web sites are refused.")
  }
  if (request.headers.get("sec-fetch-site") === "cross-site" && request.method !== "GET") {
    throw new Problem(403, "wrong_origin", "Requests from other web sites are refused.")
  }
}

/** The names a server on this address goes by. */
export const hostNames = (hostname: string, port: number, more: ReadonlyArray<string> = []): ReadonlySet<string> => {
  const isLoopback = ["127.0.0.1", "localhost", "::1", "[::1]"].includes(hostname)
  const names = isLoopback ? ["127.0.0.1", "localhost", "[::1]"] : [hostname]
  return new Set([...names.map((name) => `${name}:${port}`), ...more].map((name) => name.toLowerCase()))
}

const hostOf = (origin: string): string => {
  try {
    return new URL(origin).host.toLowerCase()
  } catch {
    return ""
  }
}
