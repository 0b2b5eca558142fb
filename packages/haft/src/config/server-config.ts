import * as z from "zod"

/** The setting `server` of a configuration: `haft serve` as people outside of this machine use it. */
export interface ServerConfig {
  /** The address of the server as people reach it, `https://haft.example`; its own when absent. */
  readonly publicUrl?: string
  /** Told of every request that waits for a person. */
  readonly webhook?: WebhookConfig
  /** Lets people sign in to the console with accounts of an OpenID provider. */
  readonly signIn?: SignInConfig
}

/** A receiver of signed messages, in the form of Standard Webhooks. */
export interface WebhookConfig {
  readonly url: string
  /** Key of the signatures: `whsec_` and 24 to 64 bytes in base64; HAFT_WEBHOOK_SECRET when absent. */
  readonly secret?: string
}

/** An OpenID provider, and the people who may sign in by it. */
export interface SignInConfig {
  /** The provider's issuer identifier, below which it is discovered. */
  readonly issuer: string
  readonly clientId: string
  /** HAFT_OIDC_CLIENT_SECRET when absent; a public client without either. */
  readonly clientSecret?: string
  /** Scopes that are asked for; `openid`, `profile` and `email` by default. */
  readonly scopes?: ReadonlyArray<string>
  /** Role and workspaces by claim. The first that fits counts; whoever fits none is refused. */
  readonly grants: ReadonlyArray<SignInGrant>
}

/** Role of people whose ID token has a claim with this value, or with a list that contains it. */
export interface SignInGrant {
  /** `email` counts only where the provider has verified it. */
  readonly claim: string
  readonly value: string
  readonly role: "approver" | "admin"
  /** All when absent. */
  readonly workspaces?: ReadonlyArray<string>
}

const loopback = new Set(["127.0.0.1", "localhost", "[::1]"])

/** A URL over TLS, or to this machine. */
const secureUrl = () =>
  z.url({ protocol: /^https?$/ }).refine((text) => {
    const url = URL.parse(text)
    return url === null || url.protocol === "https:" || loopback.has(url.hostname)
  }, "expected https, or http to this machine")

export const serverShape = () =>
  z.strictObject({
    publicUrl: z
      .string()
      .regex(/^https?:\/\/[^/?#@\s]+$/i, "expected an address such as https://haft.example, without a path")
      .optional()
      .describe("The address of the server as people reach it, for links; the server answers to its name"),
    webhook: z
      .strictObject({
        url: secureUrl().describe("The address that is told"),
        secret: z.string().optional().describe("Key of the signatures, `whsec_…`; `HAFT_WEBHOOK_SECRET` when absent")
      })
      .optional()
      .describe("Sends a signed message about every request that waits for a person"),
    signIn: z
      .strictObject({
        issuer: secureUrl().describe("The provider's issuer identifier"),
        clientId: z.string().min(1).describe("The client as the provider knows it"),
        clientSecret: z
          .string()
          .min(1)
          .optional()
          .describe("`HAFT_OIDC_CLIENT_SECRET` when absent; a public client without either"),
        scopes: z.array(z.string().min(1)).optional().describe("`openid`, `profile` and `email` by default"),
        grants: z
          .array(
            z.strictObject({
              claim: z.string().min(1).describe("A claim of the ID token, such as `email` or `groups`"),
              value: z.string().min(1).describe("Its value, or a member of its list"),
              role: z.enum(["approver", "admin"]).describe("Role of whoever has it"),
              workspaces: z.array(z.string().min(1)).min(1).optional().describe("All when absent")
            })
          )
          .min(1)
          .describe("Role and workspaces by claim; the first that fits counts, and whoever fits none is refused")
      })
      .optional()
      .describe("Lets people sign in to the console with accounts of an OpenID provider")
  })
