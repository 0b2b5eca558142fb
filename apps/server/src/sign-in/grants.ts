import { createHash } from "node:crypto"

import { type SignInConfig, type SignInGrant, visibleText } from "haft/internal"

import type { CallerIdentity } from "../identity.ts"

/** Claims of a person, from the ID token and the provider's user info. */
export type Claims = Readonly<Record<string, unknown>> & { readonly sub: string }

/** CallerIdentity that the first fitting grant gives to a person; undefined where none fits. */
export const identityFrom = (config: SignInConfig, claims: Claims): CallerIdentity | undefined => {
  const grant = config.grants.find((one) => fits(one, claims))
  if (grant === undefined) return undefined
  return {
    role: grant.role,
    name: nameOf(claims),
    client: `oidc-${digestOf([config.issuer, claims.sub]).slice(0, 16)}`,
    grant: grantKey(config.issuer, grant),
    ...(grant.workspaces !== undefined && { workspaces: grant.workspaces })
  }
}

/** Keys of the grants in force. A session whose grant is not among them is over. */
export const grantKeys = (config: SignInConfig | undefined): ReadonlySet<string> =>
  new Set(config?.grants.map((grant) => grantKey(config.issuer, grant)))

const fits = ({ claim, value }: SignInGrant, claims: Claims): boolean => {
  // Somebody may have entered another person's address.
  if (claim === "email" && claims["email_verified"] !== true) return false
  const found = Object.hasOwn(claims, claim) ? claims[claim] : undefined
  return Array.isArray(found) ? found.includes(value) : found === value
}

// Names that people choose for themselves could be those of others, so only these two are shown.
const nameOf = ({ sub, email, email_verified: isVerified }: Claims): string =>
  visibleText(typeof email === "string" && isVerified === true ? email : sub).slice(0, 200)

const grantKey = (issuer: string, { claim, value, role, workspaces }: SignInGrant): string =>
  digestOf([issuer, claim, value, role, workspaces])

const digestOf = (value: unknown): string => createHash("sha256").update(JSON.stringify(value)).digest("hex")
