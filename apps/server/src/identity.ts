import { createHash, timingSafeEqual } from "node:crypto"

import {
  makeToken,
  type Party,
  requireStrongToken,
  type Sessions,
  sessionsInMemory,
  type StoredSession,
  type TokenInfo,
  type TokenRole,
  type Tokens
} from "haft/internal"

import { Problem } from "./http/problem.ts"
import type { Access } from "./http/route.ts"

/** Sender of a request, as far as the server can tell. */
export interface CallerIdentity {
  readonly role: TokenRole
  /** The name of the token, for the audit log. */
  readonly name: string
  /** A name to count limits by, and what sessions belong to; never a token. */
  readonly client: string
  /** The workspaces it may use; all when absent. */
  readonly workspaces?: ReadonlyArray<string>
  /** The stored token it comes from; absent for one that was given at the start. */
  readonly token?: string
  /** Key of the grant that admitted somebody who signed in by an OpenID provider. */
  readonly grant?: string
}

/** An identity as the audit log has it. */
export const partyOf = (identity: CallerIdentity | undefined): Party | undefined =>
  identity === undefined ? undefined : { name: identity.name, role: identity.role }

/** Tokens that a server knows from its start on, besides those in its store. */
export type FixedTokens = Readonly<Partial<Record<TokenRole, string>>>

/** The sender of a request to a route that is not public. */
export const identified = ({ identity }: { readonly identity: CallerIdentity | undefined }): CallerIdentity => {
  if (identity === undefined) throw unauthorized("This needs a token: Authorization: Bearer TOKEN.")
  return identity
}

export interface Gatekeeper {
  /** Its sender; undefined without credentials. Fails with 401 on credentials that are wrong. */
  readonly identify: (request: Request) => Promise<CallerIdentity | undefined>
  /** Fails with 401, 403 or 404 unless `identity` may use such a route of the workspace. */
  readonly admit: (identity: CallerIdentity | undefined, access: Access, workspace?: string) => void
  /** Tests whether the token of an identity is neither revoked nor expired by now, for streams that outlast their request. */
  readonly isInForce: (identity: CallerIdentity | undefined) => Promise<boolean>
  /** A code for the console's address; it works once, and not for long. The session belongs to `identity`. */
  readonly makeLink: (identity?: CallerIdentity) => string
  /** Trades the code for a session: a cookie, and a key that the console keeps for itself. */
  readonly redeemLink: (code: string, request: Request) => Promise<BrowserSession>
  /** A session for somebody who has proven who they are elsewhere. */
  readonly startSession: (identity: CallerIdentity, request: Request) => Promise<BrowserSession>
  /** Tests whether a request came over TLS, which a proxy before the server speaks. */
  readonly isSecure: (request: Request) => boolean
  /** Ends the session that a request belongs to; the cookie to send back. Undefined where it has none. */
  readonly endSession: (request: Request) => Promise<string | undefined>
}

/** Both halves of a session: the cookie, and the key that the console keeps by its own origin. */
export interface BrowserSession {
  readonly cookie: string
  readonly key: string
}

/** Where a server's tokens and sessions are kept; without them, only fixed tokens, and sessions that end with the process. */
export interface IdentityStores {
  readonly tokens?: Tokens | undefined
  readonly sessions?: Sessions | undefined
  /** Keys of the grants in force for people who signed in by an OpenID provider. */
  readonly grants?: ReadonlySet<string>
  /** The address of the server as people reach it. */
  readonly publicUrl?: string | undefined
}

/** The header with the key of a console's session. */
export const sessionKeyHeader = "haft-session-key"

const sessionCookie = "haft_session"
const longestToken = 512
const encoder = new TextEncoder()
const linkLifetimeMs = 10 * 60_000
const sessionLifetimeMs = 12 * 60 * 60_000
const ranks: Readonly<Record<Access, number>> = { public: 0, agent: 1, approver: 2, admin: 3 }

/** Checks tokens and sessions. Tokens are compared in constant time or by hash; of codes and cookies hashes are kept. */
export const gatekeeper = (
  fixed: FixedTokens,
  { tokens: store, sessions: kept, grants = new Set(), publicUrl }: IdentityStores = {},
  now: () => number = Date.now
): Gatekeeper => {
  for (const secret of Object.values(fixed)) requireStrongToken(secret)
  const given = Object.entries(fixed).map(([role, secret]) => ({
    identity: { role: role as TokenRole, name: role, client: `${role}-token` },
    secret: padded(secret)
  }))
  const links = new Map<string, { readonly identity: CallerIdentity; readonly validUntil: number }>()
  const sessions = kept ?? sessionsInMemory(now)

  const isInForce: Gatekeeper["isInForce"] = async (identity) =>
    identity?.token === undefined || (await store?.isInForce(identity.token)) === true

  const byToken = async (token: string): Promise<CallerIdentity> => {
    const bytes = padded(token)
    const known = given.find(({ secret }) => timingSafeEqual(secret, bytes))
    if (known !== undefined) return known.identity
    const stored = await store?.find(token)
    if (stored === undefined) throw unauthorized("The token is not known here, was revoked, or has expired.")
    return identityOf(stored)
  }

  const bySession = async (request: Request): Promise<CallerIdentity | undefined> => {
    const value = cookieIn(request, sessionCookie)
    if (value === undefined) return undefined
    const session = await sessions.find(hashOf(value).toString("hex"))
    // Browsers send a cookie to every port of its host. The key is kept by the console's own origin, so that a cookie
    // which another server has got is worth nothing.
    if (session === undefined) return undefined
    if (!timingSafeEqual(Buffer.from(session.key, "hex"), hashOf(keyOf(request)))) return undefined
    const { id, name, role, workspaces, token, grant } = session
    // The configuration may have changed since the person signed in.
    if (grant !== undefined && !grants.has(grant)) return undefined
    const identity: CallerIdentity = {
      name,
      role,
      client: `browser-${id.slice(0, 8)}`,
      ...(workspaces !== undefined && { workspaces }),
      ...(token !== undefined && { token })
    }
    return (await isInForce(identity)) ? identity : undefined
  }

  const secureHost = publicUrl?.startsWith("https:") === true ? new URL(publicUrl).host : undefined
  const isSecure: Gatekeeper["isSecure"] = (request) =>
    secureHost !== undefined && request.headers.get("host")?.toLowerCase() === secureHost
  const sessionCookieText = (request: Request, value: string, seconds: number): string =>
    cookieText(request, {
      name: sessionCookie,
      value,
      seconds,
      path: "/",
      sameSite: "Strict",
      isSecure: isSecure(request)
    })

  const startSession: Gatekeeper["startSession"] = async ({ name, role, workspaces, token, grant }, request) => {
    const [secret, key] = [makeToken(), makeToken()]
    const session: StoredSession = {
      id: hashOf(secret).toString("hex"),
      key: hashOf(key).toString("hex"),
      name,
      role,
      ...(workspaces !== undefined && { workspaces: [...workspaces] }),
      ...(token !== undefined && { token }),
      ...(grant !== undefined && { grant }),
      validUntil: now() + sessionLifetimeMs
    }
    await sessions.add(session)
    return { cookie: sessionCookieText(request, secret, sessionLifetimeMs / 1000), key }
  }

  return {
    identify: async (request) => {
      const header = request.headers.get("authorization")
      if (header === null) return bySession(request)
      const token = /^bearer +(\S+)$/i.exec(header)?.[1]
      if (token === undefined) throw unauthorized("Use Authorization: Bearer TOKEN.")
      return byToken(token)
    },
    admit: (identity, access, workspace) => {
      if (access === "public") return
      const { role, workspaces } = identified({ identity })
      if (ranks[role] < ranks[access]) {
        throw new Problem(403, "forbidden", `Only an ${access} may do this; this token is an ${role}'s.`)
      }
      if (workspace !== undefined && workspaces !== undefined && !workspaces.includes(workspace)) {
        throw new Problem(
          404,
          "unknown_workspace",
          `There is no workspace '${workspace}' for this token. There are: ${workspaces.join(", ")}.`
        )
      }
    },
    isInForce,
    makeLink: (identity = { role: "approver", name: "console", client: "console" }) => {
      const code = makeToken()
      links.set(hashOf(code).toString("hex"), { identity, validUntil: now() + linkLifetimeMs })
      return code
    },
    redeemLink: async (code, request) => {
      const id = hashOf(code).toString("hex")
      const link = links.get(id)
      links.delete(id)
      if (link === undefined || link.validUntil <= now()) {
        throw new Problem(
          403,
          "link_used",
          "This link has been used or is too old. Start haft serve again, or ask it for a new one."
        )
      }
      return startSession(link.identity, request)
    },
    startSession,
    isSecure,
    endSession: async (request) => {
      const value = cookieIn(request, sessionCookie)
      if (value === undefined || (await bySession(request)) === undefined) return undefined
      const id = hashOf(value).toString("hex")
      await sessions.remove(id)
      return sessionCookieText(request, "", 0)
    }
  }
}

const identityOf = ({ id, name, role, workspaces }: TokenInfo): CallerIdentity => ({
  role,
  name,
  client: id,
  token: id,
  ...(workspaces !== undefined && { workspaces })
})

// All tokens get the same length, so that the time of a comparison does not reveal the length either.
const padded = (token: string): Uint8Array => {
  const bytes = new Uint8Array(longestToken)
  if (encoder.encodeInto(token, bytes).read < token.length)
    throw unauthorized("The token is longer than any known here.")
  return bytes
}

const hashOf = (secret: string): Buffer => createHash("sha256").update(secret).digest()

const keyOf = (request: Request): string => request.headers.get(sessionKeyHeader) ?? ""

export interface CookieOptions {
  readonly name: string
  readonly value: string
  readonly seconds: number
  readonly path: string
  readonly sameSite: "Strict" | "Lax"
  readonly isSecure: boolean
}

/** A Set-Cookie header for a cookie that scripts can't read. */
export const cookieText = (request: Request, cookie: CookieOptions): string => {
  const { name, value, seconds, path, sameSite, isSecure } = cookie
  const attributes = `HttpOnly; SameSite=${sameSite}; Path=${path}; Max-Age=${seconds}${isSecure ? "; Secure" : ""}`
  return `${cookieNameFor(request, name)}=${value}; ${attributes}`
}

/** The value of a cookie of this server. */
export const cookieIn = (request: Request, name: string): string | undefined => {
  const start = `${cookieNameFor(request, name)}=`
  return (request.headers.get("cookie") ?? "")
    .split(/;\s*/)
    .find((pair) => pair.startsWith(start))
    ?.slice(start.length)
}

// Browsers share cookies between all ports of a host: without the port in the name, logging in to one server would end
// the session at another.
const cookieNameFor = (request: Request, name: string): string => {
  const port = /:(\d+)$/.exec(request.headers.get("host") ?? "")?.[1]
  return port === undefined ? name : `${name}_${port}`
}

const unauthorized = (message: string): Problem =>
  new Problem(401, "unauthorized", message, { "www-authenticate": 'Bearer realm="haft"' })
