import { closeSync, constants, openSync, rmSync } from "node:fs"
import { join } from "node:path"

import { makeRuntimeDirectory } from "../runtime-directory.ts"

/** Direction of a pipe, as the host uses it. */
export type PipeUse = "read" | "write"

/**
 * Named pipes, made in one go and used again and again. Node's own pipes are sockets: a program that opens
 * /dev/stdout or /dev/stderr fails on those, and only who starts the program can hand them over.
 *
 * One that the host has written to is never read from later. A terminal's program is forked from the host and has a copy
 * of all that the host holds for a moment; when that is gone, a pipe that had no other writer yet would look as if all
 * had been said.
 */
export class PipePool {
  readonly #makePipes: (paths: ReadonlyArray<string>) => Promise<void>
  readonly #free: Readonly<Record<PipeUse, Array<string>>> = { read: [], write: [] }
  #directory: string | undefined
  readonly #making: { [use in PipeUse]?: Promise<void> | undefined } = {}
  #count = 0

  constructor(makePipes: (paths: ReadonlyArray<string>) => Promise<void>) {
    this.#makePipes = makePipes
  }

  /** Made when somebody asks for it: most hosts start no program. */
  get directory(): string {
    return (this.#directory ??= makeRuntimeDirectory("pipes"))
  }

  async take(use: PipeUse, count: number): Promise<ReadonlyArray<string>> {
    const free = this.#free[use]
    while (free.length < count) await (this.#making[use] ??= this.#make(use))
    return free.splice(-count)
  }

  /** Only for a pipe that nobody holds any more. */
  giveBack(use: PipeUse, path: string): void {
    this.#free[use].push(path)
  }

  /** For one that somebody may still hold. */
  throwAway(path: string): void {
    rmSync(path, { force: true })
  }

  remove(): void {
    if (this.#directory !== undefined) rmSync(this.#directory, { recursive: true, force: true })
  }

  async #make(use: PipeUse): Promise<void> {
    const paths = Array.from({ length: 32 }, () => join(this.directory, String(this.#count++)))
    try {
      await this.#makePipes(paths)
      this.#free[use].push(...paths)
    } finally {
      this.#making[use] = undefined
    }
  }
}

/** A program that was left running may print at most one piece in this time, or a flood would keep the host busy for good. */
const pauseMs = 10

/** The reading end of a named pipe. */
export interface PipeReader {
  /** Resolves when every writer is gone; false when it was closed before that. */
  readonly ended: Promise<boolean>
  /** Waits until the descriptor is closed. */
  readonly closed: Promise<boolean>
  /** Reads what there is without keeping the host alive for it, and tells nobody. */
  readonly letRun: () => void
  /** True if the pipe keeps the host alive, the default. */
  readonly hold: (isNeeded: boolean) => void
  readonly close: () => void
}

/** Opens the reading end, so that a writer can open the other. The chunk is only valid during the call. */
export const readPipe = (path: string, onChunk: (chunk: Uint8Array) => void): PipeReader => {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  // A plain array, not a Node buffer, whose `slice` would not copy.
  const memory = new Uint8Array(65_536)
  let isHeard = true
  let isWhole = false
  const { promise: ended, resolve: end } = Promise.withResolvers<boolean>()
  const { promise: closed, resolve: close } = Promise.withResolvers<boolean>()
  const { Socket } = process.getBuiltinModule("node:net")
  const socket = new Socket({
    fd: descriptor,
    readable: true,
    writable: false,
    onread: {
      buffer: memory,
      callback: (length) => {
        if (isHeard) onChunk(memory.subarray(0, length))
        else setTimeout(() => socket.resume(), pauseMs).unref()
        return isHeard
      }
    }
  })
  socket.on("end", () => {
    isWhole = true
    end(true)
  })
  socket.on("error", () => socket.destroy())
  socket.on("close", () => {
    end(isWhole)
    close(isWhole)
  })
  return {
    ended,
    closed,
    letRun: () => {
      isHeard = false
      socket.unref()
    },
    hold: (isNeeded) => {
      if (isNeeded) socket.ref()
      else socket.unref()
    },
    close: () => {
      socket.destroy()
    }
  }
}

/** Opens a pipe that the host writes to. Both ways, because opening only for writing waits for a reader. */
export const openForWriting = (path: string): { readonly descriptor: number; readonly close: () => void } => {
  const descriptor = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  let isOpen = true
  return {
    descriptor,
    close: () => {
      if (isOpen) closeSync(descriptor)
      isOpen = false
    }
  }
}
