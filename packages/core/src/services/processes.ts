import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

import type { ToolError } from "../tool-error.ts"

/** A program to start, exactly: no shell in between, no variable that is not listed. */
export interface Command {
  readonly program: string
  readonly args: ReadonlyArray<string>
  /** Command line that the program, a POSIX shell, runs: for a system whose own shell is another one. */
  readonly line?: string
  /** Absolute directory. */
  readonly directory: string
  readonly env: Readonly<Record<string, string>>
  /** Sent to the program's standard input, which is closed otherwise. */
  readonly stdin?: string | Uint8Array
  /** Launch data that a sandbox prepared for this command. Opaque: only the Processes service on the same machine reads it. */
  readonly handle?: object
}

/** Why a program did not run. */
export type RunErrorCode = "command_not_found" | "permission_denied" | "sandbox_error"

export interface RunOptions {
  /** The program's whole tree is killed after this time, and `timedOut` says so. */
  readonly timeoutMs?: number
  /** The chunk is only valid during the call, copy what is kept: the next one comes in the same memory. */
  readonly onStdout?: (chunk: Uint8Array) => void
  readonly onStderr?: (chunk: Uint8Array) => void
  /**
   * Opens a control channel: `send` of the running program reaches its standard input, and what it writes to the
   * descriptor `reportDescriptor` comes here. The command's own `stdin` is not used then.
   */
  readonly onReport?: (chunk: Uint8Array) => void
  /** Called once the program runs, with a handle that is good until it has ended. */
  readonly onStarted?: (running: RunningProcess) => void
  /** Address space that the program may take, where that can be limited. One that runs into this leaves no core file. */
  readonly addressSpaceBytes?: number
  /** Told of control files that the command made or changed, however it ended: also when it was cancelled. */
  readonly onControlFiles?: (changes: ReadonlyArray<ControlFileChange>) => void
}

/** Descriptor that a program with a control channel reports to, see {@link RunOptions.onReport}. */
export const reportDescriptor = 7

/** Handle of a program that runs. */
export interface RunningProcess {
  /** Writes to the control channel; what is sent to a program that has ended is dropped. */
  readonly send: (text: string) => void
  /** Ends the program's whole tree: SIGTERM, a short grace, SIGKILL. `run` then returns how it ended. */
  readonly stop: Effect.Effect<void>
  /** True when something in the program's network listens on this TCP port. */
  readonly listensOn: (port: number) => Effect.Effect<boolean>
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
  /** Control files that the command made or changed, where its sandbox looks for them. */
  readonly controlFiles?: ReadonlyArray<ControlFileChange>
}

/** A control file (see `controlFiles`) that a command made or changed. */
export interface ControlFileChange {
  /** Relative to the workspace, with `/`. */
  readonly path: string
  readonly reason: string
  /** Where it was moved to. Absent where the change was only recorded. */
  readonly quarantine?: string
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
    /**
     * Frees what a sandbox prepared for a command that was started by other means, or not at all, and ends what its
     * process tree does not reach. Says which control files the command made or changed.
     */
    readonly release: (command: Command) => Effect.Effect<ReadonlyArray<ControlFileChange>>
    /** Control files that a running command has made or changed since the last look. They are moved aside, as at its end. */
    readonly inspect: (command: Command) => Effect.Effect<ReadonlyArray<ControlFileChange>>
    /** Absolute path of a system program to run outside the sandbox. PATH is not consulted: a workspace may be in it. */
    readonly systemProgram: (name: string) => string | undefined
    /** A new mark for the environment of such a process. Whoever carries it ends when the host dies, where that can be done. */
    readonly mark: Effect.Effect<ProcessMark>
    /** Writes to the terminal of such a process what it takes at once, and says how many bytes that was. Never waits. */
    readonly feed: (terminal: number, bytes: Uint8Array) => number
  }
>()("@haft/core/Processes") {}
