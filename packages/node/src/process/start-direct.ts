import type { Readable } from "node:stream"

import type { Start, Started, Stream } from "./started.ts"

/** Starts programs from this process: for systems without /proc, where nothing better is to be had. */
export const startDirect: Start = async ({ command, mark, onStdout, onStderr }): Promise<Started> => {
  const { execa } = await import("execa")
  const program = execa(command.program, command.args, {
    cwd: command.directory,
    env: { ...command.env, [mark.name]: mark.value },
    extendEnv: false,
    ...(command.stdin === undefined ? { stdin: "ignore" } : { input: command.stdin }),
    stdout: "pipe",
    stderr: "pipe",
    encoding: "buffer",
    buffer: false,
    detached: process.platform !== "win32",
    cleanup: false,
    reject: false
  })
  const streams = [listen(program.stdout, onStdout), listen(program.stderr, onStderr)]
  const { promise: end, resolve } = Promise.withResolvers<Awaited<Started["end"]>>()
  program.nodeChildProcess.once("exit", (exitCode, signal) => resolve({ exitCode, signal }))
  if (program.pid === undefined) {
    const failed = await program
    throw failed instanceof Error ? failed : new Error(`${command.program} did not start`)
  }
  program.catch(() => undefined)
  return { root: program.pid, spared: [], end, streams, release: () => undefined }
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
