import type { Socket } from "node:net"

import type { Admission, Endpoint } from "@haft/core"

/** Makes a connection that was admitted. */
export type Dial = (endpoint: Endpoint, admission: Admission) => Promise<Socket>

/** Traffic of a connection, for the audit log. */
export interface Traffic {
  readonly bytes_sent: number
  readonly bytes_received: number
  readonly duration_sec: number
}

/** A connection to a host outside, from the moment it is made until it is closed. */
export class OpenConnection {
  readonly upstream: Socket
  readonly endpoint: Endpoint
  readonly admission: Admission
  readonly #began = performance.now()
  readonly #closed: Promise<void>

  constructor(
    upstream: Socket,
    endpoint: Endpoint,
    admission: Admission,
    onClosed: (traffic: Traffic) => Promise<void>
  ) {
    this.upstream = upstream
    this.endpoint = endpoint
    this.admission = admission
    upstream.on("error", () => undefined)
    this.#closed = new Promise((resolve) => {
      upstream.once("close", () => {
        const traffic = {
          bytes_sent: upstream.bytesWritten,
          bytes_received: upstream.bytesRead,
          duration_sec: (performance.now() - this.#began) / 1000
        }
        void onClosed(traffic).finally(resolve)
      })
    })
  }

  /** Closes the connection at once. */
  close(): Promise<void> {
    this.upstream.destroy()
    return this.#closed
  }
}
