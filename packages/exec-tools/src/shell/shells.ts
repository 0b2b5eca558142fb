import { CurrentCall, toolError, type ToolError } from "@haft/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"

import { ExecSettings } from "../settings.ts"
import type { ShellProcess } from "./shell-process.ts"

/** State of a shell that a command in it is judged by. */
export interface ShellState {
  /** Where the shell is: relative to the workspace, absolute outside of it. */
  readonly directory: string
  /** True when it was opened with network, which all of its commands have. */
  readonly network: boolean
}

/** A session: its shell, if one is open, and the lock that lets one command run at a time. */
export interface ShellSession extends ShellState {
  readonly id: string
  process: ShellProcess | undefined
  directory: string
  network: boolean
  /** The last command, for questions about its connections. */
  command: string
}

interface Entry extends ShellSession {
  readonly lock: Semaphore.Semaphore
  /** Calls that run in it or wait for it. */
  users: number
}

/** Persistent shells of one host, by caller and session id. They end with the host. */
export class Shells extends Context.Service<
  Shells,
  {
    /** Runs an effect with a session of the current caller, alone. */
    readonly use: <A, E, R>(
      id: string,
      run: (session: ShellSession) => Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | ToolError<"session_limit">, R>
    /** State of the shell of a session of the current caller, as after its last command; undefined where none is open. */
    readonly stateOf: (id: string) => Effect.Effect<ShellState | undefined>
    /** Where the shells' programs live. */
    readonly fibers: FiberSet.FiberSet<void>
  }
>()("@haft/exec-tools/Shells") {
  static readonly layer: Layer.Layer<Shells, never, ExecSettings> = Layer.effect(
    Shells,
    Effect.gen(function* () {
      const { maxShells } = yield* ExecSettings
      const fibers = yield* FiberSet.make<void>()
      const entries = new Map<string, Entry>()
      return {
        fibers,
        stateOf: (id) =>
          CurrentCall.useSync(({ caller }) => {
            const entry = entries.get(keyOf(caller?.name, id))
            return entry?.process === undefined ? undefined : { directory: entry.directory, network: entry.network }
          }),
        use: (id, run) =>
          Effect.gen(function* () {
            const { caller } = yield* CurrentCall
            const key = keyOf(caller?.name, id)
            const known = entries.get(key)
            if (known === undefined && entries.size >= maxShells) return yield* tooMany(maxShells)
            const entry = known ?? newEntry(id)
            if (entry.users >= mostWaiting) return yield* tooBusy(id)
            entries.set(key, entry)
            entry.users++
            const leave = Effect.sync(() => {
              entry.users--
              if (entry.users === 0 && entry.process === undefined) entries.delete(key)
            })
            // A shell that ends while nobody uses it makes room for another.
            const forget = Effect.sync(() => {
              if (entry.users === 0) entries.delete(key)
            })
            return yield* entry.lock
              .withPermits(1)(Effect.suspend(() => run(entry)))
              .pipe(Effect.ensuring(leave), Effect.provideService(OnShellEnd, forget))
          })
      }
    })
  )
}

const newEntry = (id: string): Entry => ({
  id,
  process: undefined,
  directory: ".",
  network: false,
  command: "",
  lock: Semaphore.makeUnsafe(1),
  users: 0
})

const keyOf = (caller: string | undefined, id: string): string => JSON.stringify([caller ?? null, id])

/** Called by a shell that ended by itself, once its session has no process. */
export const OnShellEnd = Context.Reference<Effect.Effect<void>>("@haft/exec-tools/OnShellEnd", {
  defaultValue: () => Effect.void
})

/** Calls that one session takes at a time, waiting ones included. */
const mostWaiting = 16

const tooMany = (limit: number) =>
  toolError("session_limit", `${limit} shells are open, and that is the limit`, {
    suggestion: "Use a session that is open, or end one by running exit in it.",
    details: { limit }
  })

const tooBusy = (id: string) =>
  toolError("session_limit", `${mostWaiting} calls wait for the shell '${id}' already`, {
    suggestion: "Wait for their replies, or use another session_id.",
    details: { session: id },
    retryable: true
  })
