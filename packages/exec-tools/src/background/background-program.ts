import {
  type Command,
  type ControlFileChange,
  CurrentCall,
  Journal,
  type ProcessEnd,
  Processes,
  redactText,
  type RunErrorCode,
  type RunningProcess,
  type RunOptions,
  Sandbox,
  type SandboxRequest,
  type ToolError
} from "@haft/core"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"

import type { CommandOutcome } from "../run-command/run-command.ts"
import { recordSandbox } from "../run-command/run-command.ts"

export interface BackgroundRequest {
  /** Command line for the audit log. */
  readonly label: string
  readonly command: Command
  readonly sandbox: SandboxRequest
  readonly options: Omit<RunOptions, "onStarted">
  /** Runs whichever way the program ends. */
  readonly ensuring?: Effect.Effect<void>
  /** Called once nothing of the program is left. */
  readonly onEnd: (end: BackgroundProgramEnd) => void
}

/** How a background program ended. `failure` says why it did not run to its own end. */
export interface BackgroundProgramEnd extends Pick<ProcessEnd, "exitCode" | "signal" | "timedOut" | "leftRunning"> {
  readonly failure?: string
}

/** A program in the sandbox that outlives the call that started it, and ends with the host. */
export interface BackgroundProgram {
  readonly running: RunningProcess
  readonly sandbox: CommandOutcome["sandbox"]
  /** Control files that it has made or changed since the last look; they are moved aside. */
  readonly inspect: Effect.Effect<ReadonlyArray<ControlFileChange>>
  /** Ends the whole process tree and waits until nothing is left. */
  readonly stop: Effect.Effect<void>
}

/** Starts a program that lives on in `fibers`. */
export const startBackground = Effect.fnUntraced(function* (
  fibers: FiberSet.FiberSet<void>,
  request: BackgroundRequest
) {
  const { label, command, options, onEnd } = request
  const service = yield* Sandbox
  const processes = yield* Processes
  const { kind, isolated } = yield* service.describe
  yield* recordSandbox({ kind, isolated })
  const started = yield* Deferred.make<RunningProcess, ToolError<RunErrorCode>>()
  const audit = yield* controlFileAudit(label)
  let inspect: BackgroundProgram["inspect"] = Effect.succeed([])
  const fiber = yield* service.wrap(command, request.sandbox).pipe(
    Effect.flatMap((wrapped) => {
      inspect = processes.inspect(wrapped)
      const onStarted = (running: RunningProcess): void => {
        Deferred.doneUnsafe(started, Effect.succeed(running))
      }
      const life = processes.run(wrapped, { ...options, onStarted }).pipe(
        Effect.tap(audit),
        Effect.match({
          onSuccess: (end) => {
            // It may have been stopped before it ran: nobody is told of a start then.
            Deferred.doneUnsafe(started, Effect.succeed(notRunning))
            onEnd(end)
          },
          onFailure: (error) => {
            Deferred.doneUnsafe(started, Effect.fail(error))
            onEnd({ exitCode: null, signal: null, timedOut: false, leftRunning: 0, failure: error.message })
          }
        }),
        Effect.onInterrupt(() =>
          Effect.sync(() => {
            Deferred.doneUnsafe(started, Effect.succeed(notRunning))
            onEnd({ exitCode: null, signal: "SIGKILL", timedOut: false, leftRunning: 0 })
          })
        ),
        Effect.ensuring(request.ensuring ?? Effect.void)
      )
      return FiberSet.run(fibers, life)
    }),
    // An interruption in between would leave behind what the sandbox prepared.
    Effect.uninterruptible
  )
  const running = yield* Deferred.await(started).pipe(Effect.onInterrupt(() => Fiber.interrupt(fiber)))
  const stop = Effect.andThen(running.stop, Fiber.await(fiber)).pipe(Effect.asVoid)
  return { running, sandbox: { kind, isolated }, inspect, stop } satisfies BackgroundProgram
})

const notRunning: RunningProcess = {
  send: () => undefined,
  stop: Effect.void,
  listensOn: () => Effect.succeed(false)
}

/** Puts control files that a program changed into the audit log of the call that started it. */
const controlFileAudit = Effect.fnUntraced(function* (label: string) {
  const journal = yield* Journal
  const { id, step, tool } = yield* CurrentCall
  return ({ controlFiles: files = [] }: ProcessEnd): Effect.Effect<void> =>
    files.length === 0
      ? Effect.void
      : // The files are moved already, and their record lies beside them.
        Effect.ignore(
          journal.append({
            type: "control_files_changed",
            request_id: id,
            step,
            tool,
            command: redactText(label),
            files
          })
        )
})
