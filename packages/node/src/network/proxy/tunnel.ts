import type { Socket } from "node:net"

import { ConnectionRefused } from "@haft/core"
import { canonicalHost, isAddress } from "@haft/core/internal"

import { type FirstBytes, inspectFirstBytes } from "./client-hello.ts"
import type { OpenConnection } from "./open-connection.ts"
import type { ProxySession } from "./proxy-session.ts"

/**
 * Joins a client with a connection. What the server says goes to the client at once, so that protocols work in which
 * it speaks first; what the client says waits until its first bytes are known to be meant for this host.
 */
export const tunnel = (session: ProxySession, client: Socket, connection: OpenConnection, head: Buffer): void => {
  const { upstream } = connection
  // One that ended in order may still have something to write to the other.
  client.once("close", () => client.readableEnded || upstream.destroy())
  upstream.once("close", () => upstream.readableEnded || client.destroy())
  upstream.pipe(client)
  let first = Buffer.alloc(0)
  const read = (chunk: Buffer): void => {
    first = Buffer.concat([first, chunk])
    const look = inspectFirstBytes(first)
    if (look.kind === "incomplete") return
    client.off("data", read)
    client.pause()
    const problem = problemWith(look, connection)
    if (problem === undefined) {
      upstream.write(first)
      client.pipe(upstream)
      return
    }
    void session.refuse(connection.endpoint, new ConnectionRefused({ reason: problem }))
    client.destroy()
  }
  client.on("data", read)
  if (head.length > 0) read(head)
  client.resume()
}

/** Why a protocol may not be spoken with a host. */
const problemWith = (look: FirstBytes, { endpoint: { host, port }, admission }: OpenConnection): string | undefined => {
  if (look.kind === "malformed") return "what looks like a TLS greeting is malformed"
  if (look.kind !== "tls") {
    return admission.anyProtocol ? undefined : `port ${port} of ${host} is for TLS, and this is another protocol`
  }
  if (look.serverName === undefined) return isAddress(host) ? undefined : "its TLS greeting names no server (SNI)"
  return canonicalHost(look.serverName) === host ? undefined : `its TLS greeting is for another server than ${host}`
}
