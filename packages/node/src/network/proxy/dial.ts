import type { Socket } from "node:net"
import { networkInterfaces } from "node:os"

import { type Admission, ConnectionRefused, type Endpoint, isPublicAddress } from "@haft/core"
import { isAddress, printEndpoint } from "@haft/core/internal"

/** Finds the addresses of a name. */
export type ResolveName = (host: string) => Promise<ReadonlyArray<string>>

const connectTimeoutMs = 30_000

/**
 * Resolves names by asking the name servers directly: the system's own resolver holds a thread of Node's pool for each
 * name until it gives up. It is asked only for what the servers don't know.
 */
export const systemNames = (): ResolveName => {
  const { lookup, Resolver } = process.getBuiltinModule("node:dns/promises")
  const resolver = new Resolver({ timeout: 3000, tries: 2 })
  return async (host) => {
    // No name server is to be asked about this machine.
    if (host === "localhost") return ["127.0.0.1", "::1"]
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const found = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []))
    return found.length > 0
      ? found
      : (await lookup(host, { all: true, order: "verbatim" })).map(({ address }) => address)
  }
}

/** Addresses of this machine. One may be public, and its services take requests from here for those of a neighbor. */
const addressesOfThisMachine = (): ReadonlyArray<string> =>
  Object.values(networkInterfaces()).flatMap((list = []) => list.map(({ address }) => address))

/**
 * Connects to one of the host's addresses, looked up once and checked before. One address that is not public spoils
 * them all: who mixes private and public answers is up to something.
 */
export const dial = async (
  endpoint: Endpoint,
  { mayBePrivate }: Pick<Admission, "mayBePrivate">,
  resolve: ResolveName,
  ownAddresses: () => ReadonlyArray<string> = addressesOfThisMachine
): Promise<Socket> => {
  const { host, port } = endpoint
  const found = isAddress(host) ? [host] : await resolve(host)
  if (found.length === 0) throw new ConnectionRefused({ reason: `${host} has no address` })
  const own = mayBePrivate ? [] : ownAddresses()
  if (!mayBePrivate && !found.every((address) => isPublicAddress(address) && !own.includes(address))) {
    throw new ConnectionRefused({
      reason: `${host} resolves to an address that is not public; network.allow has to list ${printEndpoint(endpoint)}`
    })
  }
  const { connect, isIP } = process.getBuiltinModule("node:net")
  const addresses = found.map((address) => ({ address, family: isIP(address) }))
  const socket = connect({
    host,
    port,
    autoSelectFamily: true,
    noDelay: true,
    allowHalfOpen: true,
    // The name is never looked up a second time.
    lookup: (_name, _options, callback) => callback(null, addresses)
  })
  socket.setTimeout(connectTimeoutMs, () => socket.destroy(new Error("it did not answer in time")))
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject))
  socket.setTimeout(0)
  socket.removeAllListeners("error")
  const remote = socket.remoteAddress ?? ""
  if (addresses.some(({ address }) => address === remote || `::ffff:${address}` === remote)) return socket
  socket.destroy()
  throw new ConnectionRefused({ reason: "it connected to an address that was not checked" })
}
