import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto"
import { createSecureContext, type SecureContext } from "node:tls"

/** Days that a certificate is valid; its key never leaves this process and dies with it. */
const validDays = 397

/**
 * A certificate authority for some hosts, whose key is in the memory of this process only. Its own certificate says that
 * it speaks for no other host, so that a program that trusts it has nothing to fear beyond them.
 */
export class CertificateAuthority {
  /** The authority's certificate, PEM. */
  readonly certificate: string
  readonly #key: KeyObject
  readonly #keyId: Buffer
  readonly #contexts = new Map<string, SecureContext>()

  constructor(hosts: ReadonlyArray<string>) {
    const { privateKey, publicKey } = newKeys()
    this.#key = privateKey
    this.#keyId = keyIdOf(publicKey)
    const permitted = hosts.map((host) => sequence(tagged(0x82, Buffer.from(host, "ascii"))))
    // Every IPv4 and every IPv6 address.
    const excluded = [8, 32].map((length) => sequence(tagged(0x87, Buffer.alloc(length))))
    this.certificate = this.#sign(authorityName, publicKey, [
      extension(oids.basicConstraints, sequence(boolean(true)), "critical"),
      extension(oids.keyUsage, bits(0x06, 1), "critical"),
      extension(oids.subjectKeyIdentifier, octets(this.#keyId)),
      extension(oids.nameConstraints, sequence(tagged(0xa0, ...permitted), tagged(0xa1, ...excluded)), "critical")
    ])
  }

  /** A certificate for one of the hosts, with its key, as a TLS server takes it. */
  contextFor(host: string): SecureContext {
    const known = this.#contexts.get(host)
    if (known !== undefined) return known
    const { privateKey, publicKey } = newKeys()
    const cert = this.#sign(host, publicKey, [
      extension(oids.basicConstraints, sequence(), "critical"),
      extension(oids.keyUsage, bits(0x80, 7), "critical"),
      extension(oids.extendedKeyUsage, sequence(oids.serverAuthentication)),
      extension(oids.subjectAltName, sequence(tagged(0x82, Buffer.from(host, "ascii")))),
      extension(oids.subjectKeyIdentifier, octets(keyIdOf(publicKey))),
      extension(oids.authorityKeyIdentifier, sequence(tagged(0x80, this.#keyId)))
    ])
    const key = privateKey.export({ type: "pkcs8", format: "pem" })
    const context = createSecureContext({ key, cert: `${cert}${this.certificate}`, minVersion: "TLSv1.2" })
    this.#contexts.set(host, context)
    return context
  }

  #sign(subject: string, publicKey: KeyObject, extensions: ReadonlyArray<Buffer>): string {
    const day = 86_400_000
    const now = Date.now()
    const content = sequence(
      tagged(0xa0, integer(Buffer.from([2]))),
      integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
      signatureAlgorithm,
      nameOf(authorityName),
      sequence(time(now - day), time(now + validDays * day)),
      nameOf(subject),
      publicKey.export({ type: "spki", format: "der" }),
      tagged(0xa3, sequence(...extensions))
    )
    const der = sequence(content, signatureAlgorithm, bits(sign("sha256", content, this.#key), 0))
    const lines = der.toString("base64").match(/.{1,64}/g) ?? []
    return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`
  }
}

const authorityName = "haft credential broker"

const newKeys = () => generateKeyPairSync("ec", { namedCurve: "P-256" })

const keyIdOf = (key: KeyObject): Buffer =>
  createHash("sha1")
    .update(key.export({ type: "spki", format: "der" }))
    .digest()

// DER: a tag, a length, and a content that may be made of such parts in turn.

const tagged = (tag: number, ...parts: ReadonlyArray<Buffer>): Buffer => {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...parts: ReadonlyArray<Buffer>): Buffer => tagged(0x30, ...parts)
const integer = (value: Buffer): Buffer => tagged(0x02, value)
const octets = (value: Buffer): Buffer => tagged(0x04, value)
const boolean = (value: boolean): Buffer => tagged(0x01, Buffer.from([value ? 0xff : 0]))

/** Bits, of which the last ones are unused. */
const bits = (value: Buffer | number, unused: number): Buffer =>
  tagged(0x03, Buffer.from([unused]), typeof value === "number" ? Buffer.from([value]) : value)

const identifier = (...arcs: ReadonlyArray<number>): Buffer => {
  const [first = 0, second = 0, ...rest] = arcs
  const inSevens = (arc: number): ReadonlyArray<number> =>
    arc < 0x80 ? [arc] : [...inSevens(arc >> 7).map((part) => part | 0x80), arc & 0x7f]
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(inSevens)]))
}

const oids = {
  commonName: identifier(2, 5, 4, 3),
  subjectKeyIdentifier: identifier(2, 5, 29, 14),
  keyUsage: identifier(2, 5, 29, 15),
  subjectAltName: identifier(2, 5, 29, 17),
  basicConstraints: identifier(2, 5, 29, 19),
  nameConstraints: identifier(2, 5, 29, 30),
  authorityKeyIdentifier: identifier(2, 5, 29, 35),
  extendedKeyUsage: identifier(2, 5, 29, 37),
  serverAuthentication: identifier(1, 3, 6, 1, 5, 5, 7, 3, 1)
}

const signatureAlgorithm = sequence(identifier(1, 2, 840, 10_045, 4, 3, 2))

const extension = (id: Buffer, value: Buffer, isCritical?: "critical"): Buffer =>
  sequence(id, ...(isCritical === undefined ? [] : [boolean(true)]), octets(value))

// A common name has 64 characters at most. Clients look at the alternative name anyway.
const nameOf = (name: string): Buffer =>
  sequence(tagged(0x31, sequence(oids.commonName, tagged(0x0c, Buffer.from(name.slice(0, 64))))))

const time = (milliseconds: number): Buffer => {
  const digits = new Date(milliseconds).toISOString().replaceAll(/[-:T]|\.\d+/g, "")
  return digits < "2050" ? tagged(0x17, Buffer.from(digits.slice(2))) : tagged(0x18, Buffer.from(digits))
}
