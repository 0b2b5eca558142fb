import * as z from "zod"

import { canonicalHost, type Endpoint, parseEndpoint, parseHostPattern } from "./host-pattern.ts"
import { isAddress } from "./public-address.ts"

const hostList = z
  .array(
    z
      .string()
      .refine(
        (text) => parseHostPattern(text) !== undefined,
        "expected a host such as example.com, *.example.com or localhost:8080, or * for any public host"
      )
  )
  .readonly()

/** A credential that commands use without having it: the proxy puts its value into requests to some hosts. */
export interface BrokeredCredential {
  /** Variable of the command's environment that holds a placeholder. */
  readonly variable: string
  /** Hosts that the value is sent to, over TLS. */
  readonly hosts: ReadonlyArray<Endpoint>
  /** Header in which the value replaces the placeholder, lower case. */
  readonly header: string
  /** Where the value comes from: a variable of haft's own environment, or a file. */
  readonly from: { readonly env: string } | { readonly file: string }
}

/** Parses a host that a credential is for. It is spelled out: below a name, others might have hosts of their own. */
export const parseCredentialHost = (text: string): Endpoint | undefined => {
  const host = canonicalHost(text)
  const endpoint = host === undefined ? parseEndpoint(text) : { host, port: 443 }
  return endpoint === undefined || isAddress(endpoint.host) ? undefined : endpoint
}

const credentialHost = z
  .string()
  .refine(
    (text) => parseCredentialHost(text) !== undefined,
    "expected the name of a host such as api.example.com, without *"
  )

const credential = z.strictObject({
  variable: z
    .string()
    .regex(/^[A-Za-z_]\w*$/)
    .describe("Variable of the command's environment that holds a placeholder"),
  hosts: z.array(credentialHost).min(1).describe("Hosts that the value is sent to, over TLS: `api.example.com`"),
  header: z
    .string()
    .regex(/^(?!(?:host|connection|content-length|transfer-encoding|upgrade)$)[\w-]+$/i)
    .toLowerCase()
    .default("authorization")
    .describe("Header in which the value replaces the placeholder"),
  from: z
    .union([z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })])
    .describe("Where the value comes from: a variable of haft's own environment, or a file outside the workspace")
})

/** Settings of the network policy. */
export const networkConfig = z.strictObject({
  allow: hostList
    .default([])
    .describe(
      "Hosts that can be reached: `example.com`, `*.example.org` (ports 80 and 443), `git.example.com:22`; private hosts need their port: `localhost:8080`"
    ),
  deny: hostList
    .default([])
    .describe("Hosts that can't be reached, on any port unless one is named; stronger than `allow`"),
  ask: z.boolean().default(true).describe("Ask a person about hosts that are not listed; false refuses them"),
  maxConnections: z
    .number()
    .int()
    .min(1)
    .max(65_535)
    .default(256)
    .describe("Connections that one command may have open at once"),
  credentials: z
    .array(credential)
    .default([])
    .describe("Credentials that commands use without having them: the proxy puts their values into requests")
})

/** Settings of the network policy, as they are written. */
export type NetworkConfig = z.input<typeof networkConfig>
