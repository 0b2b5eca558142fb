import { relative } from "node:path"

import { makeToolError, requireNetwork, toolError, type ToolError, type Touches, Workspace } from "@haft/core"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"

import { startBackground } from "../background/background-program.ts"
import { persistentShell } from "../embedded-scripts.ts"
import { CommandMemory } from "../last-command/last-command.ts"
import { collectOutput, type Collectors } from "../run-command/collect-output.ts"
import { type CommandOutcome, recordControlFiles, signsOfLife } from "../run-command/run-command.ts"
import { ExecSettings } from "../settings.ts"
import { quoted, ShellProcess } from "./shell-process.ts"
import { OnShellEnd, Shells, type ShellSession, type ShellState } from "./shells.ts"

export interface ShellRequest {
  /** The call's arguments, by which {@link shell} knows what {@link shellTouches} has said. */
  readonly call: object
  readonly session: string
  /** Nothing is run when absent; the shell is opened all the same. */
  readonly command?: string | undefined
  /** Ends the session's shell first. */
  readonly restart: boolean
  /** The shell is to reach the hosts of the network policy. It has to be a new one, or one that does already. */
  readonly network?: boolean | undefined
  /** The host's default when absent. */
  readonly timeoutMs?: number | undefined
}

/** A command in a persistent shell. */
export interface ShellOutcome extends CommandOutcome {
  readonly session: string
  /** True when the shell was opened for this command, so nothing of earlier ones is left. */
  readonly isNew: boolean
  /** True when there is no shell any more: it ended with the command, or was ended because it ignored an interrupt. */
  readonly isOver: boolean
  /** The shell's directory after the command: relative to the workspace, absolute outside of it, null without a shell. */
  readonly directory: string | null
}

/** How long a command may take to react to an interrupt before its shell is ended. */
const graceMs = 2000
/** How long a shell may take to be there. */
const openMs = 30_000
/** Longer commands belong into a file. */
export const longestCommand = 131_072

/** Runs a command in the session's shell, which keeps directory, variables and functions for the next one. */
export const shell = Effect.fnUntraced(function* (request: ShellRequest) {
  const shells = yield* Shells
  return yield* shells.use(request.session, (session) => runIn(session, request))
})

/**
 * Touches of a command in a shell. Its directory is where earlier commands have left the shell; outside of the
 * workspace it is part of the command line, which no rule for a simple command covers. A shell that was opened with
 * network gives it to every command.
 */
export const shellTouches = Effect.fnUntraced(function* (request: ShellRequest) {
  const { call, session, command, restart, network = false } = request
  yield* requireNetwork(network)
  const shells = yield* Shells
  const open = restart ? undefined : yield* shells.stateOf(session)
  const state = open ?? { directory: ".", network }
  if (network && !state.network) return yield* withoutNetwork(session)
  assessedIn.set(call, state)
  if (command === undefined) return { network: state.network } satisfies Touches
  const { directory } = state
  const isOutside = directory.startsWith("/")
  return {
    runs: isOutside ? `cd ${quoted(directory)} && ${command}` : command,
    reads: [isOutside ? "." : directory],
    network: state.network
  } satisfies Touches
})

const withoutNetwork = (session: string) =>
  toolError("invalid_params", `the shell '${session}' was opened without network, which it can't get later`, {
    suggestion: "Use another session_id, or restart: true, together with network: true."
  })

/** State of the shell that a call was judged by. Another call may have changed it since. */
const assessedIn = new WeakMap<object, ShellState>()

const changed = toolError(
  "stale_file",
  "the shell has changed its directory or its network since the call was assessed; nothing was run",
  {
    suggestion: "Repeat the call.",
    retryable: true
  }
)

const runIn = Effect.fnUntraced(function* (session: ShellSession, request: ShellRequest) {
  const { call, command = ":", restart, network = false, timeoutMs } = request
  const settings = yield* ExecSettings
  const limit = timeoutMs ?? settings.defaultTimeoutMs
  const { root } = yield* Workspace
  if (restart) yield* endShell(session)
  const isNew = session.process === undefined
  if (isNew) Object.assign(session, { directory: ".", network })
  const assessed = assessedIn.get(call)
  if (session.network !== assessed?.network) return yield* changed
  if (request.command !== undefined && session.directory !== assessed.directory) return yield* changed
  session.command = command
  const process = session.process ?? (yield* openShell(session))
  const startedAt = yield* Clock.currentTimeMillis
  const collectors = yield* collectOutput(settings.artifactBytes)
  const run = yield* execute(process, command, limit, collectors).pipe(
    Effect.onInterrupt(() => giveUp(session, process))
  )
  if (run.isStuck || run.reported === undefined) yield* endShell(session)
  process.collect(undefined)
  const controlFiles = yield* inspectShell(process)
  const { kind, isolated } = process.program?.sandbox ?? { kind: "none", isolated: false }
  const place = run.reported === undefined || run.isStuck ? null : placeBelow(root, run.reported.directory)
  session.directory = place ?? "."
  const outcome: ShellOutcome = {
    session: session.id,
    exitCode: run.reported?.exitCode ?? run.shellCode ?? 137,
    signal: null,
    timedOut: run.timedOut,
    timeoutMs: limit,
    durationMs: Math.round((yield* Clock.currentTimeMillis) - startedAt),
    stdout: collectors.stdout.finish(),
    stderr: collectors.stderr.finish(),
    leftRunning: 0,
    sandbox: { kind, isolated },
    controlFiles,
    isNew,
    isOver: place === null,
    directory: place
  }
  const memory = yield* CommandMemory
  yield* memory.remember({ ...outcome, command, directory: place ?? ".", startedAt })
  return outcome
}, Effect.scoped)

interface Run {
  readonly reported?: { readonly exitCode: number; readonly directory: string } | undefined
  /** The shell's own exit code, where it ended with the command. */
  readonly shellCode?: number | null
  readonly timedOut: boolean
  readonly isStuck: boolean
}

const execute = Effect.fnUntraced(function* (
  process: ShellProcess,
  command: string,
  limit: number,
  collectors: Collectors
) {
  process.lastUsedAt = performance.now()
  process.collect(collectors)
  const over = Deferred.await(process.gone).pipe(
    Effect.map((shellCode): Run => ({ shellCode, timedOut: false, isStuck: false }))
  )
  const ended = process.execute(command).pipe(
    Effect.map((reported): Run => ({ reported, timedOut: false, isStuck: false })),
    Effect.raceFirst(over),
    Effect.raceFirst(signsOfLife(() => collectors.stdout.lastLine() || collectors.stderr.lastLine()))
  )
  const run = yield* Effect.timeoutOption(ended, limit)
  process.lastUsedAt = performance.now()
  if (Option.isSome(run)) return run.value
  const reported = yield* process.interrupt(graceMs)
  return { reported, timedOut: true, isStuck: reported === undefined } satisfies Run
})

// A cancelled command is interrupted, and its shell is kept if it reacts.
const giveUp = Effect.fnUntraced(function* (session: ShellSession, process: ShellProcess) {
  const reported = yield* process.interrupt(graceMs)
  process.collect(undefined)
  const { root } = yield* Workspace
  if (reported !== undefined) session.directory = placeBelow(root, reported.directory)
  if (reported === undefined) yield* endShell(session)
  yield* Effect.ignore(inspectShell(process))
})

/** Control files that a command made or changed. A shell that has ended was looked at then, by whoever ran it. */
const inspectShell = Effect.fnUntraced(function* ({ program }: ShellProcess) {
  if (program === undefined) return []
  const changes = yield* program.inspect
  yield* recordControlFiles(changes)
  return changes
})

const endShell = Effect.fnUntraced(function* (session: ShellSession) {
  const { process } = session
  session.process = undefined
  yield* process?.program?.stop ?? Effect.void
})

const openShell = Effect.fnUntraced(function* (session: ShellSession) {
  const { fibers } = yield* Shells
  const { shellIdleMs } = yield* ExecSettings
  const { root } = yield* Workspace
  const forget = yield* OnShellEnd
  const process = new ShellProcess()
  const program = yield* startBackground(fibers, {
    label: `shell ${session.id}`,
    command: { program: "sh", args: ["-c", persistentShell, "sh"], directory: root, env: {} },
    sandbox: { channel: true, network: session.network, title: () => session.command },
    options: process.options,
    onEnd: (end) => process.onEnd(end)
  })
  process.begin(program)
  const opened = yield* Deferred.await(process.ready).pipe(
    Effect.as(true),
    Effect.raceFirst(Effect.as(Deferred.await(process.gone), false)),
    Effect.timeoutOption(openMs),
    Effect.onInterrupt(() => program.stop)
  )
  if (!Option.getOrElse(opened, () => false)) {
    yield* program.stop
    return yield* notOpened(process)
  }
  session.process = process
  const watch = Effect.raceFirst(Deferred.await(process.gone), idle(process, shellIdleMs)).pipe(
    Effect.andThen(program.stop),
    Effect.andThen(
      Effect.suspend(() => {
        if (session.process === process) session.process = undefined
        return session.process === undefined ? forget : Effect.void
      })
    )
  )
  yield* FiberSet.run(fibers, watch)
  return process
})

const notOpened = ({ failure }: ShellProcess): Effect.Effect<never, ToolError<"sandbox_error">> =>
  toolError("sandbox_error", `the shell did not start${failure === undefined ? "" : `: ${failure}`}`, {
    suggestion: "Check what works on this machine with `haft doctor`."
  })

/** Returns when a shell has not been used for too long. */
const idle = Effect.fnUntraced(function* (process: ShellProcess, idleMs: number) {
  for (;;) {
    const left = process.lastUsedAt + idleMs - performance.now()
    if (left <= 0) return
    yield* Effect.sleep(left)
  }
})

const placeBelow = (root: string, directory: string): string => {
  const path = relative(root, directory)
  if (path === "") return "."
  return path === ".." || path.startsWith("../") ? directory : path
}

/** Failure of a command that took too long, with what it printed and what became of its shell. */
export const shellTimeout = ({ timeoutMs, isOver }: ShellOutcome, output: unknown): ToolError<"timeout"> =>
  makeToolError(
    "timeout",
    `the command took longer than ${timeoutMs} ms and was ${
      isOver ? "ended with its shell, because it ignored the interrupt" : "interrupted; the shell is kept"
    }`,
    {
      suggestion: isOver
        ? "The next command starts in a new shell: set directory, variables and functions again."
        : "Give it more time with timeout_ms, or start it with start_process.",
      details: { shell: isOver ? "ended" : "running" },
      output,
      retryable: true
    }
  )
