import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"

/** A TCP proxy whose network can be made to fail. */
export interface FaultyProxy {
  readonly port: number
  /** Ends all connections and refuses new ones, or joins both sides again. */
  readonly cut: (isCut: boolean) => void
  /** Drops all bytes without ending connections, as a cable that was pulled; healing ends the connections. */
  readonly drop: (isDropping: boolean) => void
  /** Delays what goes to the target by so many milliseconds. */
  readonly delay: (milliseconds: number) => void
  /** Sends new connections to another port, and ends those that are open. */
  readonly redirect: (target: number) => void
  readonly close: () => Promise<void>
}

/** Starts a proxy to a port of loopback. It listens on loopback, too, unless told otherwise. */
export const startFaultyProxy = async (target: number, host = "127.0.0.1"): Promise<FaultyProxy> => {
  const sockets = new Set<Socket>()
  const fault = { isCut: false, isDropping: false, delayMs: 0, target }
  const endAll = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const join = (from: Socket, to: Socket, isToTarget: boolean): void => {
    sockets.add(from)
    // One after the other, so that delayed bytes keep their order.
    let before: Promise<unknown> = Promise.resolve()
    const inOrder = (work: () => void): void => {
      const due = performance.now() + (isToTarget ? fault.delayMs : 0)
      before = before.then(async () => {
        const left = due - performance.now()
        if (left > 0) await new Promise((resolve) => setTimeout(resolve, left))
        return work()
      })
    }
    from.on("data", (chunk) => {
      if (!fault.isDropping) inOrder(() => void to.write(chunk))
    })
    from.on("end", () => inOrder(() => void to.end()))
    from.on("error", () => to.destroy())
    from.on("close", () => {
      sockets.delete(from)
      if (!fault.isDropping) to.destroy()
    })
  }
  const server = createServer((near) => {
    near.on("error", () => {})
    if (fault.isCut) return void near.destroy()
    const far = connect(fault.target, "127.0.0.1")
    join(near, far, true)
    join(far, near, false)
    return undefined
  })
  server.listen(0, host).unref()
  await once(server, "listening")
  const address = server.address()
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    cut: (isCut) => {
      fault.isCut = isCut
      if (isCut) endAll()
    },
    drop: (isDropping) => {
      fault.isDropping = isDropping
      if (!isDropping) endAll()
    },
    delay: (milliseconds) => {
      fault.delayMs = milliseconds
    },
    redirect: (next) => {
      fault.target = next
      endAll()
    },
    close: async () => {
      const closed = once(server, "close")
      server.close()
      endAll()
      await closed
    }
  }
}
