import { createHash, timingSafeEqual } from "node:crypto"

import { makeToken } from "haft"

import { Problem } from "./http/problem.ts"
import type { Access } from "./http/route.ts"

/** Who sends a request, as far as the server can tell. */
export interface Identity {
  readonly role: "agent" | "approver"
  /** A name to count limits by; never a token. */
  readonly client: string
}

/** The sender of a request to a route that is not public. */
export const identified = ({ identity }: { readonly identity: Identity | undefined }): Identity => {
  if (identity === undefined) throw unauthorized("This needs a token: Authorization: Bearer TOKEN.")
  return identity
}

export interface Tokens {
  readonly agent: string
  readonly approver: string
}

export interface Gatekeeper {
  /** Who sent it; undefined without credentials. Fails with 401 on credentials that are wrong. */
  readonly identify: (request: Request) => Identity | undefined
  /** Fails with 401 or 403 unless `identity` may use such a route. */
  readonly admit: (identity: Identity | undefined, access: Access) => void
  /** A code for the console's address; it works once, and not for long. */
  readonly makeLink: () => string
  /** Trades the code for the text of a cookie, which makes its browser an approver. */
  readonly redeemLink: (code: string, request: Request) => string
}

const longestToken = 512
const encoder = new TextEncoder()
const linkLifetimeMs = 10 * 60_000
const sessionLifetimeMs = 12 * 60 * 60_000

/** Checks tokens and cookies. Tokens are compared in constant time; of codes and cookies only hashes are kept. */
export const gatekeeper = (tokens: Tokens, now: () => number = Date.now): Gatekeeper => {
  const roles = [
    { role: "agent", client: "agent-token", secret: padded(tokens.agent) },
    { role: "approver", client: "approver-token", secret: padded(tokens.approver) }
  ] as const
  const links = new Map<string, number>()
  const sessions = new Map<string, number>()

  const byToken = (token: string): Identity => {
    const given = padded(token)
    const known = roles.find(({ secret }) => timingSafeEqual(secret, given))
    if (known === undefined) throw unauthorized("The token is not known here.")
    return known
  }

  const byCookie = (request: Request): Identity | undefined => {
    const value = cookieOf(request)
    const key = value === undefined ? "" : hashOf(value).toString("hex")
    if ((sessions.get(key) ?? 0) <= now()) return undefined
    return { role: "approver", client: `browser-${key.slice(0, 8)}` }
  }

  return {
    identify: (request) => {
      const header = request.headers.get("authorization")
      if (header === null) return byCookie(request)
      const token = /^bearer +(\S+)$/i.exec(header)?.[1]
      if (token === undefined) throw unauthorized("Use Authorization: Bearer TOKEN.")
      return byToken(token)
    },
    admit: (identity, access) => {
      if (access === "public") return
      if (identity === undefined) throw unauthorized("This needs a token: Authorization: Bearer TOKEN.")
      if (access === "approver" && identity.role !== "approver") {
        throw new Problem(403, "forbidden", "Only an approver may do this; the agent's token does not allow it.")
      }
    },
    makeLink: () => {
      const code = makeToken()
      links.set(hashOf(code).toString("hex"), now() + linkLifetimeMs)
      return code
    },
    redeemLink: (code, request) => {
      const key = hashOf(code).toString("hex")
      const validUntil = links.get(key) ?? 0
      links.delete(key)
      if (validUntil <= now()) {
        throw new Problem(
          403,
          "link_used",
          "This link has been used or is too old. Start haft serve again, or ask it for a new one."
        )
      }
      const session = makeToken()
      for (const [old, until] of sessions) if (until <= now()) sessions.delete(old)
      sessions.set(hashOf(session).toString("hex"), now() + sessionLifetimeMs)
      return `${cookieNameFor(request)}=${session}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${sessionLifetimeMs / 1000}`
    }
  }
}

// All tokens get the same length, so that the time of a comparison does not reveal the length either.
const padded = (token: string): Uint8Array => {
  const bytes = new Uint8Array(longestToken)
  if (encoder.encodeInto(token, bytes).read < token.length)
    throw unauthorized("The token is longer than any known here.")
  return bytes
}

const hashOf = (secret: string): Buffer => createHash("sha256").update(secret).digest()

const cookieOf = (request: Request): string | undefined => {
  const start = `${cookieNameFor(request)}=`
  return (request.headers.get("cookie") ?? "")
    .split(/;\s*/)
    .find((pair) => pair.startsWith(start))
    ?.slice(start.length)
}

// Browsers share cookies between all ports of a host: without the port in the name, logging in to one server would end
// the session at another.
const cookieNameFor = (request: Request): string => {
  const port = /:(\d+)$/.exec(request.headers.get("host") ?? "")?.[1]
  return port === undefined ? "haft_session" : `haft_session_${port}`
}

const unauthorized = (message: string): Problem =>
  new Problem(401, "unauthorized", message, { "www-authenticate": 'Bearer realm="haft"' })
