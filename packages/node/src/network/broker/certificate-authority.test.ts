import { X509Certificate } from "node:crypto"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { connect, createServer } from "node:tls"

import { describe, expect, it } from "vitest"

import { CertificateAuthority } from "./certificate-authority.ts"

const handshake = async (
  authority: CertificateAuthority,
  { host, trusted = authority }: { readonly host: string; readonly trusted?: CertificateAuthority }
): Promise<string> => {
  const server = createServer({ SNICallback: (_name, answer) => answer(null, authority.contextFor(host)) })
  server.on("tlsClientError", () => undefined)
  server.on("secureConnection", (socket) => socket.on("error", () => undefined).end("x"))
  await once(server.listen(0, "127.0.0.1"), "listening")
  const { port } = server.address() as AddressInfo
  const socket = connect({ host: "127.0.0.1", port, servername: host, ca: trusted.certificate })
  const result = await new Promise<string>((resolve) => {
    socket.once("secureConnect", () => resolve("trusted"))
    socket.once("error", (error) => resolve(error.message))
  })
  socket.destroy()
  server.close()
  return result
}

describe("a certificate authority", () => {
  it("is trusted for its hosts, and for no others", async () => {
    const authority = new CertificateAuthority(["api.example.com", "git.example.org"])
    expect(await handshake(authority, { host: "api.example.com" })).toBe("trusted")
    expect(await handshake(authority, { host: "git.example.org" })).toBe("trusted")
    expect(await handshake(authority, { host: "example.net" })).toBe("permitted subtree violation")
  })

  it("is trusted only by clients that have its certificate", async () => {
    const [one, other] = [new CertificateAuthority(["a.test"]), new CertificateAuthority(["a.test"])]
    expect(await handshake(one, { host: "a.test", trusted: other })).not.toBe("trusted")
  })

  it("issues certificates that an X.509 parser reads", () => {
    const { certificate } = new CertificateAuthority([`${"a".repeat(63)}.${"b".repeat(63)}.test`])
    const parsed = new X509Certificate(certificate)
    expect(parsed.ca).toBe(true)
    expect(parsed.verify(parsed.publicKey)).toBe(true)
    expect(new Date(parsed.validTo).getTime()).toBeGreaterThan(Date.now())
  })
})
