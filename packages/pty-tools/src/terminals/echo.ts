import { Processes } from "@haft/core"
import * as Effect from "effect/Effect"

import type { Terminal } from "./terminal.ts"

/**
 * Tests whether the terminal device echoes what is typed now. It does not at a password prompt, nor where a program draws
 * what is typed by itself, as shells do: nobody can tell beforehand whether it will. False whenever it can't be told.
 */
export const echoes = Effect.fnUntraced(function* ({ device, end }: Terminal) {
  if (device === undefined || end !== undefined) return false
  const processes = yield* Processes
  const chunks: Array<Uint8Array> = []
  const program = processes.systemProgram("stty")
  if (program === undefined) return false
  const command = {
    program,
    args: [process.platform === "linux" ? "-F" : "-f", device, "-a"],
    directory: "/",
    env: { LC_ALL: "C" }
  }
  return yield* processes.run(command, { timeoutMs: 2000, onStdout: (chunk) => chunks.push(chunk.slice()) }).pipe(
    Effect.map(({ exitCode }) => exitCode === 0 && hasEcho.test(Buffer.concat(chunks).toString("latin1"))),
    Effect.orElseSucceed(() => false)
  )
})

// `-echo` stands there where it is off.
const hasEcho = /(?:^|[\s;])echo(?:[\s;]|$)/
