import { randomBytes } from "node:crypto"
import type { IncomingHttpHeaders } from "node:http"
import type { Socket } from "node:net"
import type { Transform } from "node:stream"
import { TLSSocket } from "node:tls"

import type { BrokeredCredential, Endpoint } from "@haft/core"

import type { CertificateAuthority } from "./certificate-authority.ts"
import { type ByteReplacement, replaceBytes, replaceInText } from "./replace-bytes.ts"

/** A credential with its value, which stays in this process. */
interface Held {
  readonly credential: BrokeredCredential
  readonly secret: string
  /** As long as the secret, so that texts keep their length where one replaces the other. */
  readonly placeholder: string
}

/**
 * Puts credentials into the requests of one sandbox. The sandbox knows placeholders; the secret replaces one in the
 * named header of a request to a named host, and a placeholder replaces the secret in whatever that host answers.
 */
export class CredentialBroker {
  readonly #held: ReadonlyArray<Held>
  readonly #authority: CertificateAuthority

  constructor(credentials: ReadonlyArray<readonly [BrokeredCredential, string]>, authority: CertificateAuthority) {
    this.#authority = authority
    this.#held = credentials.map(([credential, secret]) => ({
      credential,
      secret,
      placeholder: placeholderFor(secret)
    }))
  }

  /** Variables of the sandbox's environment: the placeholders. */
  get variables(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#held.map(({ credential, placeholder }) => [credential.variable, placeholder]))
  }

  /** True for a host that has a credential: its TLS ends here. */
  covers(endpoint: Endpoint): boolean {
    return this.#of(endpoint).length > 0
  }

  /** Speaks TLS with a client in the place of a host. */
  terminate(client: Socket, { host }: Endpoint): TLSSocket {
    const secure = new TLSSocket(client, {
      isServer: true,
      secureContext: this.#authority.contextFor(host),
      // Headers are put into HTTP/1.1 only.
      ALPNProtocols: ["http/1.1"]
    })
    secure.on("error", () => undefined)
    return secure
  }

  /** The headers of a request with its secrets, and how the answer is cleared of them. */
  inject(endpoint: Endpoint, headers: IncomingHttpHeaders): Brokered {
    const replacements: Array<ByteReplacement> = []
    const changed: IncomingHttpHeaders = { ...headers, "accept-encoding": "identity" }
    for (const { credential, secret, placeholder } of this.#of(endpoint)) {
      replacements.push({ from: Buffer.from(secret), to: Buffer.from(placeholder) })
      const given = changed[credential.header]
      if (typeof given !== "string") continue
      const value = withSecret(given, placeholder, secret)
      if (value === given) continue
      changed[credential.header] = value
      // A server may send back what it was sent, with the secret inside of base64.
      const [, sent = ""] = /^basic +(\S+)$/i.exec(value) ?? []
      const [, original = ""] = /^basic +(\S+)$/i.exec(given) ?? []
      if (sent !== "") replacements.push({ from: Buffer.from(sent), to: Buffer.from(original) })
    }
    return {
      headers: changed,
      clearHeaders: (answer) => mapValues(answer, (value) => replaceInText(value, replacements)),
      clearBody: () => replaceBytes(replacements)
    }
  }

  #of({ host, port }: Endpoint): ReadonlyArray<Held> {
    return this.#held.filter(({ credential }) =>
      credential.hosts.some((named) => named.host === host && named.port === port)
    )
  }
}

/** A request that carries credentials. */
export interface Brokered {
  readonly headers: IncomingHttpHeaders
  readonly clearHeaders: (headers: IncomingHttpHeaders) => IncomingHttpHeaders
  readonly clearBody: () => Transform
}

const placeholderFor = (secret: string): string => {
  const random = randomBytes(secret.length).toString("hex")
  const length = Buffer.byteLength(secret)
  return (length >= 20 ? `haft_${random}` : random).padEnd(length, "0").slice(0, length)
}

// `Authorization: Basic` has name and password in base64: git, curl -u, npm.
const withSecret = (value: string, placeholder: string, secret: string): string => {
  const [, scheme, encoded = ""] = /^(basic +)([\w+/=-]+)$/i.exec(value) ?? []
  if (scheme === undefined) return value.replaceAll(placeholder, () => secret)
  const pair = Buffer.from(encoded, "base64").toString()
  return pair.includes(placeholder)
    ? `${scheme}${Buffer.from(pair.replaceAll(placeholder, () => secret)).toString("base64")}`
    : value
}

const mapValues = (headers: IncomingHttpHeaders, change: (value: string) => string): IncomingHttpHeaders =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(change) : value && change(value)
    ])
  )
