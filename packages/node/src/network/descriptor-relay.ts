import type { ChildProcess } from "node:child_process"
import { randomBytes } from "node:crypto"
import { Socket as DatagramSocket } from "node:dgram"
import { once } from "node:events"
import { chmodSync, rmSync } from "node:fs"
import { Server } from "node:net"
import { join } from "node:path"
import { arch } from "node:process"

import { descriptorRelay } from "../embedded-scripts.ts"
import { makeRuntimeDirectory } from "../process/runtime-directory.ts"
import { requiredProgram } from "../process/system-programs.ts"

/** A socket that was made in another network namespace. */
export type HandedSocket = Server | DatagramSocket

/** Address and token with which a program in a namespace hands its sockets over. */
export interface RelayAddress {
  readonly path: string
  readonly token: string
}

/**
 * Receives sockets from other network namespaces: a small process beside the host, because Node takes descriptors only
 * from a child that it shares its internal channel with. Started with the first sandbox that gets network.
 */
export class DescriptorRelay {
  readonly #waiting = new Map<string, (socket: HandedSocket) => void>()
  #started: Promise<{ readonly process: ChildProcess; readonly directory: string }> | undefined
  #isClosed = false

  /** Calls back for each socket that comes with the returned token, until {@link forget} is called. */
  async expect(onSocket: (socket: HandedSocket) => void): Promise<RelayAddress> {
    const { directory } = await (this.#started ??= this.#start())
    const token = randomBytes(16).toString("hex")
    this.#waiting.set(token, onSocket)
    return { path: join(directory, "relay"), token }
  }

  forget({ token }: RelayAddress): void {
    this.#waiting.delete(token)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const started = await this.#started?.catch(() => undefined)
    if (started === undefined) return
    started.process.disconnect()
    rmSync(started.directory, { recursive: true, force: true })
  }

  async #start() {
    const { spawn } = process.getBuiltinModule("node:child_process")
    const directory = makeRuntimeDirectory("network")
    // Root runs commands for other users. The directory's name is known to nobody, and a token comes with each socket.
    if (process.getuid?.() === 0) chmodSync(directory, 0o711)
    const child = spawn(requiredProgram("perl"), ["-e", descriptorRelay, "--", join(directory, "relay"), arch], {
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      env: {},
      detached: true
    })
    child.on("message", (message, socket) => this.#take(message, socket))
    child.once("exit", () => {
      this.#started = undefined
      if (!this.#isClosed) rmSync(directory, { recursive: true, force: true })
    })
    const { promise: failed, reject } = Promise.withResolvers<never>()
    child.once("exit", () => reject(new Error("the relay for network sockets ended")))
    child.once("error", reject)
    failed.catch(() => undefined)
    await Promise.race([once(child, "message"), failed])
    // A host that has nothing else to wait for may end.
    child.unref()
    child.channel?.unref()
    return { process: child, directory }
  }

  #take(message: unknown, socket: unknown): void {
    if (!(socket instanceof Server || socket instanceof DatagramSocket)) return
    socket.unref()
    const token = typeof message === "object" && message !== null && "sandbox" in message ? message.sandbox : undefined
    const onSocket = typeof token === "string" ? this.#waiting.get(token) : undefined
    if (onSocket === undefined) socket.close()
    else onSocket(socket)
  }
}
