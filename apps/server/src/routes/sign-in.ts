import * as z from "zod"

import { json } from "../http/answer.ts"
import { defineRoute, methodNotAllowed, type HttpRoute } from "../http/route.ts"
import { cookieIn, cookieText, type Gatekeeper } from "../identity.ts"
import { type OidcSignIn, SignInFailure, signInLifetimeMs } from "../sign-in/oidc.ts"

export interface SignInRoutesOptions {
  readonly gatekeeper: Gatekeeper
  /** Absent where the configuration names no provider. */
  readonly oidc?: OidcSignIn | undefined
  /** Told that the provider can't be reached, or answers what is not valid. */
  readonly onFailure: (error: unknown) => void
}

const cookieName = "haft_sign_in"
const callbackPath = "/login/oidc/callback"

/** The address that the provider sends browsers back to. */
export const redirectUri = (server: string): string => `${server}${callbackPath}`

/** Signing in to the console by an OpenID provider. */
export const signInRoutes = ({ gatekeeper, oidc, onFailure }: SignInRoutesOptions): ReadonlyArray<HttpRoute> => [
  defineRoute({
    method: "GET",
    path: "/v1/sign-in",
    summary: "Ways to sign in besides one-time links",
    access: "public",
    replies: {
      200: {
        description: "`oidc` is true where /login/oidc leads to an OpenID provider",
        schema: z.object({ oidc: z.boolean() })
      }
    },
    handle: () => json({ oidc: oidc !== undefined })
  }),
  ...(oidc === undefined ? [] : providerRoutes(oidc, gatekeeper, onFailure))
]

const providerRoutes = (
  oidc: OidcSignIn,
  gatekeeper: Gatekeeper,
  onFailure: (error: unknown) => void
): ReadonlyArray<HttpRoute> => {
  const refused = (error: unknown) => {
    if (!(error instanceof SignInFailure)) throw error
    // Whoever runs the server can only do something about this one.
    if (error.problem === "unavailable") onFailure(error)
    return seeOther(`/#sign-in=${error.problem}`)
  }
  return [
    defineRoute({
      method: "GET",
      path: "/login/oidc",
      summary: "Leads a browser to the OpenID provider",
      access: "public",
      replies: { 303: { description: "To the provider", contentTypes: [] } },
      handle: async ({ request }) => {
        try {
          const { location, state } = await oidc.start()
          // The provider is another site, so a cookie that is only sent within this one would not come back.
          const cookie = cookieText(request, {
            name: cookieName,
            value: state,
            seconds: signInLifetimeMs / 1_000,
            path: "/login/oidc",
            sameSite: "Lax",
            isSecure: gatekeeper.isSecure(request)
          })
          return seeOther(location, cookie)
        } catch (error) {
          return refused(error)
        }
      }
    }),
    defineRoute({
      method: "GET",
      path: callbackPath,
      summary: "Takes a browser back from the OpenID provider, and leads to the console",
      access: "public",
      query: z.looseObject({}),
      replies: { 303: { description: "To the console", contentTypes: [] } },
      handle: async ({ request }) => {
        // A code is used once, and programs that check links use HEAD.
        if (request.method !== "GET") throw methodNotAllowed("GET")
        try {
          const identity = await oidc.finish(new URL(request.url).searchParams, cookieIn(request, cookieName))
          const { cookie, key } = await gatekeeper.startSession(identity, request)
          return seeOther(`/#key=${key}`, cookie)
        } catch (error) {
          return refused(error)
        }
      }
    })
  ]
}

const seeOther = (location: string, cookie?: string) => ({
  status: 303,
  headers: { location, ...(cookie !== undefined && { "set-cookie": cookie }) },
  body: null
})
