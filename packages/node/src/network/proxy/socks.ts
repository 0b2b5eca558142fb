import type { Socket } from "node:net"

import { type Endpoint } from "@haft/core"
import { canonicalHost } from "@haft/core/internal"

/** Replies of SOCKS 5 to a request, by what happened. */
export const socksReplies = { connected: 0, failed: 1, forbidden: 2, noSuchCommand: 7, noSuchAddress: 8 } as const

const connectCommand = 1
const addressTypes = { ipv4: 1, name: 3, ipv6: 4 } as const

/** Reads the greeting and the request of a SOCKS 5 client; undefined where there is none that can be served. */
export const readSocksRequest = async (
  client: Socket,
  nameOf: (address: string) => string | undefined
): Promise<{ readonly endpoint: Endpoint; readonly rest: Buffer } | undefined> => {
  const input = new ClientBytes(client)
  const [version, methodCount = 0] = await input.take(2)
  if (version !== 5) return undefined
  const methods = await input.take(methodCount)
  if (!methods.includes(0)) {
    client.end(Buffer.from([5, 0xff]))
    return undefined
  }
  client.write(Buffer.from([5, 0]))
  const [again, command, , addressType] = await input.take(4)
  if (again !== 5) return undefined
  const host = hostOf(await addressBytes(input, addressType), addressType, nameOf)
  const port = (await input.take(2)).readUInt16BE(0)
  const problem =
    command === connectCommand
      ? host === undefined
        ? socksReplies.noSuchAddress
        : undefined
      : socksReplies.noSuchCommand
  if (problem !== undefined || host === undefined || port === 0) {
    client.end(socksReply(problem ?? socksReplies.noSuchAddress))
    return undefined
  }
  return { endpoint: { host, port }, rest: input.release() }
}

export const socksReply = (code: number): Buffer => Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0])

const addressBytes = async (input: ClientBytes, type: number | undefined): Promise<Buffer> => {
  if (type === addressTypes.ipv4) return input.take(4)
  if (type === addressTypes.ipv6) return input.take(16)
  if (type !== addressTypes.name) return Buffer.alloc(0)
  const [length = 0] = await input.take(1)
  return input.take(length)
}

const hostOf = (
  bytes: Buffer,
  type: number | undefined,
  nameOf: (address: string) => string | undefined
): string | undefined => {
  if (type === addressTypes.name) return canonicalHost(bytes.toString("latin1"))
  if (type === addressTypes.ipv4) {
    const address = bytes.join(".")
    return nameOf(address) ?? address
  }
  if (type !== addressTypes.ipv6) return undefined
  return canonicalHost(`[${bytes.toString("hex").replaceAll(/(.{4})(?!$)/g, "$1:")}]`)
}

/** Reads a connection by numbers of bytes. */
class ClientBytes {
  readonly #client: Socket
  #bytes = Buffer.alloc(0)
  #wake: () => void = () => undefined
  readonly #onData = (chunk: Buffer): void => {
    this.#bytes = Buffer.concat([this.#bytes, chunk])
    this.#wake()
  }
  readonly #onClose = (): void => this.#wake()

  constructor(client: Socket) {
    this.#client = client
    client.on("data", this.#onData).on("close", this.#onClose).resume()
  }

  async take(count: number): Promise<Buffer> {
    while (this.#bytes.length < count) {
      if (this.#client.destroyed) throw new Error("the client left")
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    const taken = this.#bytes.subarray(0, count)
    this.#bytes = this.#bytes.subarray(count)
    return taken
  }

  /** Stops reading; returns what was read beyond. */
  release(): Buffer {
    this.#client.off("data", this.#onData).off("close", this.#onClose)
    this.#client.pause()
    return this.#bytes
  }
}
