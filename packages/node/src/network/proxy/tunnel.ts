import type { Socket } from "node:net"

import { type Admission, ConnectionRefused, type Endpoint } from "@haft/core"
import { canonicalHost, isAddress } from "@haft/core/internal"

import { type FirstBytes, inspectFirstBytes } from "./client-hello.ts"
import type { OpenConnection } from "./open-connection.ts"
import type { ProxySession } from "./proxy-session.ts"

/**
 * Joins a client with a connection. What the server says goes to the client at once, so that protocols work in which
 * it speaks first; what the client says waits until its first bytes are known to be meant for this host.
 */
export const tunnel = (session: ProxySession, client: Socket, connection: OpenConnection, head: Buffer): void => {
  const { upstream, endpoint } = connection
  // One that ended in order may still have something to write to the other.
  client.once("close", () => client.readableEnded || upstream.destroy())
  upstream.once("close", () => upstream.readableEnded || client.destroy())
  upstream.pipe(client)
  readGreeting(client, head, (first, look) => {
    const problem = problemWith(look, endpoint, connection.admission)
    if (problem === undefined) {
      upstream.write(first)
      client.pipe(upstream)
      return
    }
    void session.refuse(endpoint, new ConnectionRefused({ reason: problem }))
    client.destroy()
  })
}

/** Speaks TLS with a client in the place of a host that has a credential; `serve` gets what is inside. */
export const terminate = (
  session: ProxySession,
  client: Socket,
  {
    endpoint,
    head,
    serve
  }: { readonly endpoint: Endpoint; readonly head: Buffer; readonly serve: (inside: Socket) => void }
): void =>
  readGreeting(client, head, (first, look) => {
    const problem = problemWith(look, endpoint, { anyProtocol: false })
    const { broker } = session
    if (problem !== undefined || broker === undefined) {
      void session.refuse(endpoint, new ConnectionRefused({ reason: problem ?? "it has no credential" }))
      client.destroy()
      return
    }
    client.unshift(first)
    serve(broker.terminate(client, endpoint))
  })

/** Collects the first bytes of a client until they show what it speaks. Then the client is paused. */
const readGreeting = (client: Socket, head: Buffer, done: (first: Buffer, look: FirstBytes) => void): void => {
  let first = Buffer.alloc(0)
  const read = (chunk: Buffer): void => {
    first = Buffer.concat([first, chunk])
    const look = inspectFirstBytes(first)
    if (look.kind === "incomplete") return
    client.off("data", read)
    client.pause()
    done(first, look)
  }
  client.on("data", read)
  if (head.length > 0) read(head)
  if (client.listeners("data").includes(read)) client.resume()
}

/** Why a protocol may not be spoken with a host. */
const problemWith = (
  look: FirstBytes,
  { host, port }: Endpoint,
  { anyProtocol }: Pick<Admission, "anyProtocol">
): string | undefined => {
  if (look.kind === "malformed") return "what looks like a TLS greeting is malformed"
  if (look.kind !== "tls") {
    return anyProtocol ? undefined : `port ${port} of ${host} is for TLS, and this is another protocol`
  }
  if (look.serverName === undefined) return isAddress(host) ? undefined : "its TLS greeting names no server (SNI)"
  return canonicalHost(look.serverName) === host ? undefined : `its TLS greeting is for another server than ${host}`
}
