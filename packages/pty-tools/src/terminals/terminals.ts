import { randomUUID } from "node:crypto"

import {
  Artifacts,
  type Command,
  type ControlFileChange,
  Journal,
  makeToolError,
  Processes,
  type ProcessMark,
  redactText,
  type ToolError,
  toolError
} from "@haft/core"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as z from "zod"

import { loadNative, type SpawnTerminal, type WindowSize } from "./native.ts"
import { Recording } from "./recording.ts"
import { Terminal } from "./terminal.ts"

const milliseconds = z.number().int().min(1).max(2_147_483_647)

export const terminalsConfig = z
  .strictObject({
    maxSessions: z.number().int().min(1).max(1024).default(64).describe("Terminals kept at once, ended ones included"),
    idleTimeoutMs: milliseconds.default(1_800_000).describe("A terminal nobody uses and that prints nothing is closed"),
    maxLifetimeMs: milliseconds.default(28_800_000).describe("A terminal is closed after this time, whatever it does"),
    keepEndedMs: milliseconds.default(600_000).describe("How long the output of an ended terminal can still be read"),
    retainedBytes: z
      .number()
      .int()
      .min(100_000)
      .max(67_108_864)
      .default(1_048_576)
      .describe("Bytes of output kept in memory for each terminal"),
    recording: z.boolean().default(true).describe("Keep what each terminal printed as an asciicast"),
    recordingMaxBytes: z
      .number()
      .int()
      .min(1024)
      .max(1_073_741_824)
      .default(16_777_216)
      .describe("Where a recording ends")
  })
  .prefault({})

export type TerminalsConfig = z.output<typeof terminalsConfig>

export interface OpenTerminalRequest {
  /** Ready to be started: what the sandbox made of it. */
  readonly command: Command
  /** As people wrote it. */
  readonly commandLine: string
  readonly directory: string
  readonly size: WindowSize
  /** The kind of terminal the program was told it has, for players of the recording. */
  readonly term: string
  /** The caller's own name for the session, in contracts that have one; made up when absent. */
  readonly label?: string
  /** Found in the command's environment, and nowhere else. */
  readonly mark: ProcessMark
}

type OpenError = ToolError<"session_exists" | "session_limit" | "terminal_unavailable" | "write_failed">

/** The terminals of one host. They close with it, and nothing they started survives. */
export class Terminals extends Context.Service<
  Terminals,
  {
    readonly open: (request: OpenTerminalRequest) => Effect.Effect<Terminal, OpenError>
    readonly find: (id: string) => Effect.Effect<Terminal, ToolError<"session_not_found">>
    /** Oldest first. */
    readonly list: () => ReadonlyArray<Terminal>
    /** Ends the program and all it started, and forgets the terminal. */
    readonly close: (id: string) => Effect.Effect<void, ToolError<"session_not_found">>
    /** Calls back when one opens, ends or is forgotten; the returned function stops that. */
    readonly subscribe: (listener: () => void) => () => void
  }
>()("@haft/pty-tools/Terminals") {}

const hangUpMs = 200

interface Session {
  readonly terminal: Terminal
  readonly closing: Deferred.Deferred<void>
  readonly gone: Deferred.Deferred<void>
}

export const terminals = (
  config: TerminalsConfig,
  native: Effect.Effect<SpawnTerminal, ToolError<"terminal_unavailable">> = loadNative()
): Layer.Layer<Terminals, never, Processes | Artifacts | Journal> =>
  Layer.effect(
    Terminals,
    Effect.gen(function* () {
      const artifacts = yield* Artifacts
      const processes = yield* Processes
      const journal = yield* Journal
      const fibers = yield* FiberSet.make<void>()
      const oneAtATime = yield* Semaphore.make(1)
      const sessions = new Map<string, Session>()
      const listeners = new Set<() => void>()
      const changed = (): void => {
        for (const listener of listeners) listener()
      }
      yield* killAtExit(sessions)

      const makeRoom = Effect.suspend((): Effect.Effect<void, ToolError<"session_limit">> => {
        if (sessions.size < config.maxSessions) return Effect.void
        const ended = [...sessions.values()].filter(({ terminal }) => terminal.end !== undefined)
        const [oldest] = ended.toSorted((one, other) => one.terminal.lastUsedAt - other.terminal.lastUsedAt)
        if (oldest !== undefined) return closeSession(oldest)
        return toolError("session_limit", `${sessions.size} terminals are open, and that is the limit`, {
          suggestion: "Close a terminal that is not needed any more.",
          details: { limit: config.maxSessions }
        })
      })

      const makeLabelFree = (label: string): Effect.Effect<void, ToolError<"session_exists">> => {
        const other = sessions.get(label)
        if (other === undefined) return Effect.void
        if (other.terminal.end !== undefined) return closeSession(other)
        return toolError("session_exists", `there is a session '${label}' already, and it is running`, {
          suggestion: "Use another session id, or type into the session that is there.",
          details: { session: label }
        })
      }

      const open = Effect.fnUntraced(
        function* (request: OpenTerminalRequest) {
          const spawn = yield* native
          if (request.label !== undefined) yield* makeLabelFree(request.label)
          yield* makeRoom
          const minted = `terminal-${randomUUID().slice(0, 8)}`
          const id = request.label ?? minted
          const scope = yield* Scope.make()
          const recording = config.recording
            ? yield* startRecording(request, minted).pipe(Scope.provide(scope))
            : undefined
          const started = yield* start(spawn, request).pipe(Effect.tapError(() => Scope.close(scope, Exit.void)))
          const terminal = new Terminal(started, processes.feed, {
            id,
            command: request.commandLine,
            directory: request.directory,
            size: request.size,
            retainedBytes: config.retainedBytes,
            recording
          })
          const session: Session = {
            terminal,
            closing: yield* Deferred.make<void>(),
            gone: yield* Deferred.make<void>()
          }
          terminal.inspect = keepChanges(terminal, processes.inspect(request.command))
          sessions.set(id, session)
          changed()
          yield* FiberSet.run(fibers, live(session, request, scope), { startImmediately: true })
          return terminal
        },
        Effect.uninterruptible,
        oneAtATime.withPermits(1)
      )

      const keepChanges = Effect.fnUntraced(function* (
        terminal: Terminal,
        look: Effect.Effect<ReadonlyArray<ControlFileChange>>
      ) {
        const files = yield* look
        if (files.length === 0) return
        terminal.controlFiles = [...terminal.controlFiles, ...files]
        const { id, command } = terminal
        // The files are moved already, and their record lies beside them.
        yield* Effect.ignore(
          journal.append({ type: "control_files_changed", terminal: id, command: redactText(command), files })
        )
      })

      /** The life of a session: until its end, its deadline or its closing; then kept for readers for a while. */
      const live = (
        session: Session,
        { command, mark }: OpenTerminalRequest,
        scope: Scope.Closeable
      ): Effect.Effect<void> => {
        const { terminal, closing, gone } = session
        const clearUp = Effect.gen(function* () {
          terminal.hangUp()
          // Most programs end when they are hung up on. Then looking for what is left takes little time.
          yield* terminal.ended.pipe(Effect.timeoutOption(hangUpMs))
          yield* processes.end({ pid: terminal.pid, mark })
          yield* terminal.ended.pipe(Effect.timeoutOption("1 second"))
          terminal.release()
          yield* keepChanges(terminal, processes.release(command))
          yield* Scope.close(scope, Exit.void)
          yield* Deferred.succeed(gone, undefined)
          changed()
        })
        const forget = Effect.sync(() => {
          terminal.screen.dispose()
          if (sessions.get(terminal.id) === session) sessions.delete(terminal.id)
          changed()
        })
        return Effect.raceAllFirst([terminal.ended, Deferred.await(closing), deadline(terminal, config)]).pipe(
          Effect.ensuring(clearUp),
          Effect.andThen(Deferred.await(closing).pipe(Effect.timeoutOption(config.keepEndedMs))),
          Effect.ensuring(forget)
        )
      }

      const closeSession = Effect.fnUntraced(function* ({ terminal, closing, gone }: Session) {
        yield* Deferred.succeed(closing, undefined)
        yield* Deferred.await(gone)
        sessions.delete(terminal.id)
      })

      const startRecording = ({ commandLine, size, term }: OpenTerminalRequest, name: string) =>
        artifacts.create(`terminals/${name}.cast`, { capBytes: config.recordingMaxBytes }).pipe(
          Effect.map(
            (writer) =>
              new Recording(writer, config.recordingMaxBytes, {
                ...size,
                startedAt: Date.now(),
                command: redactText(commandLine),
                term
              })
          )
        )

      const sessionOf = (id: string): Effect.Effect<Session, ToolError<"session_not_found">> => {
        const session = sessions.get(id)
        if (session !== undefined) return Effect.succeed(session)
        return toolError("session_not_found", `there is no session '${id}'`, {
          suggestion: "It was never opened here, was closed, or ended a while ago. Open a new one.",
          details: { session: id }
        })
      }

      return {
        open,
        find: (id) => Effect.map(sessionOf(id), ({ terminal }) => terminal),
        list: () => [...sessions.values()].map(({ terminal }) => terminal),
        close: (id) => Effect.flatMap(sessionOf(id), closeSession),
        subscribe: (listener) => {
          listeners.add(listener)
          return () => listeners.delete(listener)
        }
      }
    })
  )

const start = (spawn: SpawnTerminal, { command, size, commandLine }: OpenTerminalRequest) =>
  Effect.try({
    try: () => spawn(command, size),
    catch: (cause) =>
      makeToolError("terminal_unavailable", `no terminal could be opened for '${commandLine}': ${String(cause)}`, {
        suggestion: "Close terminals that are not needed any more; the machine may be out of them.",
        retryable: true
      })
  })

/** Returns when a terminal has lived too long, or has not been used for too long. */
const deadline = Effect.fnUntraced(function* (terminal: Terminal, config: TerminalsConfig) {
  const hard = performance.now() + config.maxLifetimeMs
  for (;;) {
    const idle = Math.max(terminal.lastUsedAt, terminal.lastOutputAt) + config.idleTimeoutMs
    const left = Math.min(hard, idle) - performance.now()
    if (left <= 0) return
    yield* Effect.sleep(left)
  }
})

// A host that is left without being closed takes its terminals with it all the same.
const killAtExit = (sessions: ReadonlyMap<string, Session>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const kill = (): void => {
        for (const { terminal } of sessions.values()) if (terminal.end === undefined) terminal.killGroup()
      }
      if (killers.size === 0) process.on("exit", killAll)
      killers.add(kill)
      return kill
    }),
    (kill) =>
      Effect.sync(() => {
        killers.delete(kill)
        if (killers.size === 0) process.off("exit", killAll)
      })
  )

// One listener for all hosts of the process: Node takes more than ten for a leak.
const killers = new Set<() => void>()

const killAll = (): void => {
  for (const kill of killers) kill()
}
