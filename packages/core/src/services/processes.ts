import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

import type { ToolError } from "../tool-error.ts"

/** A program to start, exactly: no shell in between, no variable that is not listed. */
export interface Command {
  readonly program: string
  readonly args: ReadonlyArray<string>
  /** Absolute directory. */
  readonly directory: string
  readonly env: Readonly<Record<string, string>>
  /** Sent to the program's standard input, which is closed otherwise. */
  readonly stdin?: string | Uint8Array
  /** Open descriptors to hand over as 3, 4, …; a sandbox uses them. They are closed once the program has started. */
  readonly descriptors?: ReadonlyArray<number>
  /**
   * The program is a sandbox's launcher, and ending it ends all that it started. It gets two descriptors after the
   * others: on the second it says `ready` when everything is shut, on the first it waits for `go` before the command
   * starts (anything else ends it), and on the second it says `end CODE LEFT` when that is over: how it ended, how many
   * processes it left. A line of any other kind before that one says that a signal ended it.
   */
  readonly gated?: boolean
  /** What may be used up, where the machine lets the host hold a whole process tree to it. */
  readonly limits?: TreeLimits
  /** Address space that the program may take, where a shell can see to it. One that runs into this leaves no core file. */
  readonly addressSpaceBytes?: number
  /** What ending the process does not reach, such as a container: runs whenever the process tree is killed. */
  readonly alsoKill?: Effect.Effect<void>
  /** The same as a program with its arguments, for when the host itself is killed. */
  readonly ifHostDies?: ReadonlyArray<string>
  /** Where it tells of a signal only by exiting with 128 + its number: such a code counts as the signal. */
  readonly signalsAsCodes?: boolean
  /** Tells a launcher's own failure from the command's, by its exit code and the beginning of what it printed as errors. */
  readonly failure?: (exitCode: number | null, stderr: string) => ToolError<RunErrorCode> | undefined
  /** Runs once the process is gone, however it ended. */
  readonly afterEnd?: Effect.Effect<void>
}

/** Why a program did not run. */
export type RunErrorCode = "command_not_found" | "permission_denied" | "sandbox_error"

/** Limits on a process tree as a sum. */
export interface TreeLimits {
  readonly memoryBytes: number
  readonly processes: number
}

export interface RunOptions {
  /** The program's whole tree is killed after this time, and `timedOut` says so. */
  readonly timeoutMs?: number
  /** The chunk is only valid during the call, copy what is kept: the next one comes in the same memory. */
  readonly onStdout?: (chunk: Uint8Array) => void
  readonly onStderr?: (chunk: Uint8Array) => void
}

export interface ProcessEnd {
  /**
   * Null when a signal ended it. Where a shell had to tell, SIGINT and SIGPIPE count as the exit codes 130 and 141:
   * about those two shells keep quiet, and a program may choose the numbers itself.
   */
  readonly exitCode: number | null
  readonly signal: string | null
  readonly timedOut: boolean
  readonly durationMs: number
  /** Descendants that were still running when the main process ended. */
  readonly leftRunning: number
}

/** A process and all that comes from it: descendants, members of its session, and whoever carries its mark. */
export interface ProcessTree {
  readonly pid: number
  /** A variable that was put into its environment and nobody else's. It finds those that moved to a session of their own. */
  readonly mark?: ProcessMark
}

/** A variable that one process tree carries and no other. */
export interface ProcessMark {
  readonly name: string
  readonly value: string
}

/** Starts programs and ends them for real: interruption and time-out kill the whole tree. */
export class Processes extends Context.Service<
  Processes,
  {
    readonly run: (command: Command, options?: RunOptions) => Effect.Effect<ProcessEnd, ToolError<RunErrorCode>>
    /** Ends a process that was started by other means, such as behind a terminal. Returns once nothing of it is left. */
    readonly end: (tree: ProcessTree) => Effect.Effect<void>
    /** A new mark for the environment of such a process. Whoever carries it ends when the host dies, where that can be done. */
    readonly mark: Effect.Effect<ProcessMark>
    /** Writes to the terminal of such a process what it takes at once, and says how many bytes that was. Never waits. */
    readonly feed: (terminal: number, bytes: Uint8Array) => number
  }
>()("@haft/core/Processes") {}
