import { createHmac, randomBytes } from "node:crypto"

import type { SignInConfig } from "haft/internal"
import type * as OAuth from "oauth4webapi"

import type { CallerIdentity } from "../identity.ts"
import { type Claims, identityFrom } from "./grants.ts"

/** Sign-in by an OpenID provider: authorization code flow with PKCE, state and nonce. */
export interface OidcSignIn {
  /** Where to send a browser, and the state that it brings back in a cookie and in the address. */
  readonly start: () => Promise<{ readonly location: string; readonly state: string }>
  /** CallerIdentity of whoever comes back; fails with {@link SignInFailure}. */
  readonly finish: (answer: URLSearchParams, state: string | undefined) => Promise<CallerIdentity>
}

/** Why somebody could not be signed in. */
export type SignInProblem = "expired" | "denied" | "not_granted" | "unavailable"

/** A sign-in that came to nothing, with a code for the console and the cause for the log. */
export class SignInFailure extends Error {
  override readonly name = "SignInFailure"
  readonly problem: SignInProblem

  constructor(problem: SignInProblem, cause?: unknown) {
    super(`sign-in failed: ${problem}${cause instanceof Error ? `: ${cause.message}` : ""}`, { cause })
    this.problem = problem
  }
}

/** A sign-in has to be finished within this time. */
export const signInLifetimeMs = 10 * 60_000

const timeoutMs = 10_000
const standardScopes = ["openid", "profile", "email"]

/** Signs people in by the provider of `config`, which is discovered when the first one tries. */
export const openOidc = (config: SignInConfig, redirectUri: () => string, now = Date.now): OidcSignIn => {
  // Nonce and code verifier are derived from the state, so that nothing is stored for sign-ins that are never finished.
  const key = randomBytes(32)
  const derived = (name: string, state: string): string =>
    createHmac("sha256", key).update(`${name} ${state}`).digest("base64url")
  const client: OAuth.Client = { client_id: config.clientId }
  let discovered: Promise<Provider> | undefined
  const provider = (): Promise<Provider> => {
    discovered ??= discover(config)
    discovered.catch(() => (discovered = undefined))
    return discovered
  }

  const claimsFrom = async (answer: URLSearchParams, state: string): Promise<Claims> => {
    const { oauth, server, options } = await provider().catch(failAs("unavailable"))
    const parameters = await attempt(() => oauth.validateAuthResponse(server, client, answer, state), "denied")
    const exchange = async (): Promise<Claims> => {
      const verifier = derived("verifier", state)
      const auth = clientAuth(oauth, server, config.clientSecret)
      const response = await oauth.authorizationCodeGrantRequest(
        server,
        client,
        auth,
        parameters,
        redirectUri(),
        verifier,
        options()
      )
      const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
        expectedNonce: derived("nonce", state),
        requireIdToken: true
      })
      await oauth.validateApplicationLevelSignature(server, response, options())
      const claims = oauth.getValidatedIdTokenClaims(tokens)
      if (claims === undefined) throw new Error("there is no ID token")
      if (server.userinfo_endpoint === undefined) return claims
      // Many providers keep e-mail address and groups out of the ID token.
      const asked = await oauth.userInfoRequest(server, client, tokens.access_token, options())
      return { ...(await oauth.processUserInfoResponse(server, client, claims.sub, asked)), ...claims }
    }
    return exchange().catch((cause: unknown) => {
      // The code was used before, is too old, or belongs to another sign-in.
      const isSpent = cause instanceof oauth.ResponseBodyError && cause.error === "invalid_grant"
      throw new SignInFailure(isSpent ? "expired" : "unavailable", cause)
    })
  }

  return {
    start: async () => {
      const { oauth, server } = await provider().catch(failAs("unavailable"))
      const state = `${now().toString(36)}.${randomBytes(24).toString("base64url")}`
      const location = new URL(server.authorization_endpoint ?? config.issuer)
      const parameters = {
        response_type: "code",
        client_id: config.clientId,
        redirect_uri: redirectUri(),
        scope: (config.scopes ?? standardScopes).join(" "),
        state,
        nonce: derived("nonce", state),
        code_challenge: await oauth.calculatePKCECodeChallenge(derived("verifier", state)),
        code_challenge_method: "S256"
      }
      for (const [name, value] of Object.entries(parameters)) location.searchParams.set(name, value)
      return { location: location.href, state }
    },
    finish: async (answer, state) => {
      const startedAt = Number.parseInt(state?.split(".")[0] ?? "", 36)
      const isFresh = now() - startedAt <= signInLifetimeMs
      if (state === undefined || !isFresh || answer.get("state") !== state) throw new SignInFailure("expired")
      const identity = identityFrom(config, await claimsFrom(answer, state))
      if (identity === undefined) throw new SignInFailure("not_granted")
      return identity
    }
  }
}

interface Provider {
  readonly oauth: typeof OAuth
  readonly server: OAuth.AuthorizationServer
  /** Options of one request to the provider. */
  readonly options: () => OAuth.HttpRequestOptions<"GET"> & OAuth.HttpRequestOptions<"POST", URLSearchParams>
}

const discover = async (config: SignInConfig): Promise<Provider> => {
  const oauth = await import("oauth4webapi")
  const issuer = new URL(config.issuer)
  const options = () => ({
    signal: AbortSignal.timeout(timeoutMs),
    // The configuration allows http to this machine only.
    [oauth.allowInsecureRequests]: issuer.protocol === "http:"
  })
  const response = await oauth.discoveryRequest(issuer, { algorithm: "oidc", ...options() })
  return { oauth, server: await oauth.processDiscoveryResponse(issuer, response), options }
}

const clientAuth = (
  oauth: typeof OAuth,
  { token_endpoint_auth_methods_supported: methods = ["client_secret_basic"] }: OAuth.AuthorizationServer,
  secret: string | undefined
): OAuth.ClientAuth => {
  if (secret === undefined) return oauth.None()
  return methods.includes("client_secret_basic") ? oauth.ClientSecretBasic(secret) : oauth.ClientSecretPost(secret)
}

const failAs =
  (problem: SignInProblem) =>
  (cause: unknown): never => {
    throw new SignInFailure(problem, cause)
  }

const attempt = async <A>(work: () => A, problem: SignInProblem): Promise<A> => {
  try {
    return work()
  } catch (cause) {
    throw new SignInFailure(problem, cause)
  }
}
