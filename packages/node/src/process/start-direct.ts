import type { Readable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"

import { reportDescriptor } from "@haft/core"

import { isErrno } from "../errno.ts"
import { graceMs } from "./process-tree.ts"
import { Cancelled, type Start, type Started, type Stream } from "./started.ts"

/** Starts programs from this process: for systems without /proc, where nothing better is to be had. */
export class DirectStarter {
  /** Programs that have ended and left something running, which is in the group that they led. */
  readonly #left = new Set<number>()

  readonly start: Start = async ({ command, mark, onStdout, onStderr, onReport, isCancelled }): Promise<Started> => {
    const { execa } = await import("execa")
    if (isCancelled()) throw new Cancelled()
    const program = execa(command.program, command.args, {
      cwd: command.directory,
      env: { ...command.env, [mark.name]: mark.value },
      extendEnv: false,
      ...(command.stdin !== undefined && onReport === undefined && { input: command.stdin }),
      stdio: [
        command.stdin === undefined && onReport === undefined ? "ignore" : "pipe",
        "pipe",
        "pipe",
        ...(onReport === undefined
          ? []
          : [...Array.from({ length: reportDescriptor - 3 }, () => "ignore" as const), "pipe" as const])
      ],
      encoding: "buffer",
      buffer: false,
      detached: process.platform !== "win32",
      windowsHide: true,
      cleanup: false,
      reject: false
    })
    const pipes: ReadonlyArray<unknown> = program.nodeChildProcess.stdio
    const streams = [
      listen(program.stdout, onStdout),
      listen(program.stderr, onStderr),
      ...(onReport === undefined ? [] : [listen(pipes[reportDescriptor] as Readable, onReport)])
    ]
    program.stdin?.on("error", () => undefined)
    const { promise: end, resolve } = Promise.withResolvers<Awaited<Started["end"]>>()
    program.nodeChildProcess.once("exit", (exitCode, signal) => resolve({ exitCode, signal }))
    if (program.pid === undefined) {
      const failed = await program
      throw failed instanceof Error ? failed : new Error(`${command.program} did not start`)
    }
    program.catch(() => undefined)
    const root = program.pid
    const release = (): void => {
      if (groupTakes(root, 0)) this.#left.add(root)
    }
    const send = (text: string): void => void program.stdin?.write(text)
    return { root, spared: [], end, streams, release, ...(onReport !== undefined && { send }) }
  }

  /** Ends what is still running. */
  async close(): Promise<void> {
    const roots = [...this.#left].filter((root) => groupTakes(root, "SIGTERM"))
    if (roots.length > 0) await sleep(graceMs)
    for (const root of roots) groupTakes(root, "SIGKILL")
  }
}

/** Signals a group whose leader has ended. Where its number is a process again, the group is somebody else's. */
const groupTakes = (root: number, signal: NodeJS.Signals | 0): boolean => {
  if (process.platform === "win32" || takes(root, 0)) return false
  return takes(-root, signal)
}

const takes = (target: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(target, signal)
  } catch (error) {
    return isErrno(error, "EPERM")
  }
}

const listen = (stream: Readable, onChunk: (chunk: Uint8Array) => void): Stream => {
  const { promise: ended, resolve } = Promise.withResolvers<boolean>()
  stream.on("data", onChunk)
  stream.on("end", () => resolve(true))
  stream.on("error", () => stream.destroy())
  stream.on("close", () => resolve(false))
  return {
    ended,
    letRun: () => {
      stream.off("data", onChunk)
      stream.resume()
      const socket = stream as { unref?: () => void }
      socket.unref?.()
    },
    close: () => {
      stream.destroy()
    }
  }
}
