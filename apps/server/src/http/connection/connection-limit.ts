import type { Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/**
 * Limits the connections of a server. When there are too many, the oldest one without a request is closed, so that idle
 * connections of one client never shut out the requests of another; those that never sent a request go first.
 */
export const limitConnections = (server: Server, limit: number): void => {
  const silent = new Set<Socket>()
  const idle = new Set<Socket>()
  const busy = new Map<Socket, number>()

  server.on("connection", (socket: Socket) => {
    silent.add(socket)
    socket.once("close", () => {
      silent.delete(socket)
      idle.delete(socket)
      busy.delete(socket)
    })
    if (silent.size + idle.size + busy.size <= limit) return
    // With nothing else to close, this is the new connection itself.
    const [first] = silent.size > 1 ? silent : idle.size > 0 ? idle : silent
    first?.destroy()
  })
  server.prependListener("request", ({ socket }, response: ServerResponse) => {
    silent.delete(socket)
    idle.delete(socket)
    busy.set(socket, (busy.get(socket) ?? 0) + 1)
    response.once("close", () => {
      const left = (busy.get(socket) ?? 1) - 1
      if (left > 0) busy.set(socket, left)
      else busy.delete(socket)
      if (left === 0 && !socket.destroyed) idle.add(socket)
    })
  })
}
