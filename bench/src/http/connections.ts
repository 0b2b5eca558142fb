import { connect, type Socket } from "node:net"

/** Connections with one request at a time on each. */
export interface Connections {
  /** Sends the request over a free connection; resolves with the whole answer. */
  readonly send: () => Promise<Buffer>
  readonly close: () => void
}

/**
 * A client that does as little as possible, so that the server is measured and not the client: the request is one
 * buffer, and only the content-length of an answer is parsed.
 */
export const openConnections = async (url: string, request: Uint8Array, count: number): Promise<Connections> => {
  const { hostname, port } = new URL(url)
  const openOne = (): Promise<Socket> => open(Number(port), hostname)
  const free = await Promise.all(Array.from({ length: count }, openOne))
  const sockets = new Set(free)
  // Servers close connections that were idle for long, as they are while other contenders have their turn.
  const reopened = async (closed: Socket): Promise<Socket> => {
    sockets.delete(closed)
    const socket = await openOne()
    sockets.add(socket)
    return socket
  }
  return {
    send: async () => {
      const next = free.pop()
      if (next === undefined) throw new Error(`there are only ${count} connections`)
      const socket = next.destroyed ? await reopened(next) : next
      const answer = await exchange(socket, request)
      free.push(socket)
      return answer
    },
    close: () => {
      for (const socket of sockets) socket.destroy()
    }
  }
}

const open = (port: number, hostname: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: hostname, noDelay: true }, () => resolve(socket))
    socket.once("error", reject)
  })

const exchange = (socket: Socket, request: Uint8Array): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    let heard: Buffer | undefined
    const onData = (chunk: Buffer): void => {
      heard = heard === undefined ? chunk : Buffer.concat([heard, chunk])
      if (heard.length < lengthOf(heard)) return
      settle()
      resolve(heard)
    }
    const onClose = (): void => {
      settle()
      reject(new Error(`the server closed the connection after ${heard?.toString() ?? "nothing"}`))
    }
    const settle = (): void => {
      socket.off("data", onData)
      socket.off("close", onClose)
    }
    socket.on("data", onData)
    socket.on("close", onClose)
    socket.write(request)
  })

const lengthOf = (heard: Buffer): number => {
  const end = heard.indexOf("\r\n\r\n")
  if (end === -1) return Number.POSITIVE_INFINITY
  const length = /^content-length: (\d+)$/im.exec(heard.toString("latin1", 0, end))?.[1]
  if (length === undefined) throw new Error("the answer does not say how long it is")
  return end + 4 + Number(length)
}
