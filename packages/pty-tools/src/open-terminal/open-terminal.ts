import { pathOnDisk, Processes, requireNetwork, Sandbox, toolError, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

import type { WindowSize } from "../terminals/native.ts"
import { type TerminalReading, report } from "../terminals/report.ts"
import { settle } from "../terminals/settle.ts"
import { Terminals } from "../terminals/terminals.ts"

export interface Opening extends Omit<TerminalReading, "cursor"> {
  /** A command line for the shell. */
  readonly command: string
  readonly directory: string
  /** Variables besides those that the sandbox gives to every terminal. */
  readonly env: Readonly<Record<string, string>>
  readonly size: WindowSize
  /** The hosts of the network policy can be reached. Off by default. */
  readonly network?: boolean
  readonly label?: string
  readonly yieldMs: number
  readonly quietMs: number
}

/** A program that prints nothing for this long after its start is taken to wait for input. */
const silentMs = 2000

/** Terminal type that programs are told; the screen is drawn by an emulator of it. */
const emulated = "xterm-256color"

/** Starts a command line behind a new terminal, in the sandbox, and waits for its first words. */
export const openTerminal = Effect.fnUntraced(function* (opening: Opening) {
  const { command: commandLine, size, label, view, maxBytes, yieldMs, quietMs, network = false } = opening
  yield* requireNetwork(network)
  const workspace = yield* Workspace
  const processes = yield* Processes
  const sandbox = yield* Sandbox
  const terminals = yield* Terminals
  const directory = yield* directoryFor(opening.directory)
  const mark = yield* processes.mark
  const env = { TERM: emulated, ...opening.env }
  const bare = {
    program: "bash",
    args: ["-c", "--", commandLine],
    line: commandLine,
    directory: pathOnDisk(workspace, directory),
    env: { ...env, [mark.name]: mark.value }
  }
  const facts = { commandLine, directory, size, term: env.TERM, mark, ...(label !== undefined && { label }) }
  const terminal = yield* sandbox.wrap(bare, { terminal: true, network, title: commandLine }).pipe(
    Effect.flatMap((command) =>
      terminals.open({ command, ...facts }).pipe(Effect.onError(() => processes.release(command)))
    ),
    // The terminal removes what the sandbox prepared for it. An interruption in between would leave that behind.
    Effect.uninterruptible
  )
  const { kind } = yield* sandbox.describe
  yield* settle(terminal, { since: 0, yieldMs, quietMs, silentMs: Math.max(silentMs, quietMs) })
  return { ...(yield* report(terminal, { view, maxBytes })), sandbox: kind }
})

const directoryFor = Effect.fnUntraced(function* (given: string) {
  const workspace = yield* Workspace
  const { path, kind } = yield* workspace.info(given)
  if (kind === "directory") return path
  return yield* toolError("not_a_directory", `${given} is not a directory`, {
    suggestion: "Name a directory of the workspace to start in.",
    details: { path: given }
  })
})

/** A NUL would end an argument early: another command would run than the one that was approved. */
export const hasNoNul = (text: string): boolean => !text.includes("\0")

/** The kernel takes no longer argument or variable, and would say so only in the terminal. */
export const fits = (text: string): boolean => Buffer.byteLength(text) <= longestWord

const longestWord = 131_071
export const mustFit = `must have at most ${longestWord} bytes`
