import { writeSync } from "node:fs"

import {
  isToolError,
  type ProcessEnd,
  Processes,
  type ProcessMark,
  type RunErrorCode,
  type ToolError
} from "@haft/core"
import { stepSpan } from "@haft/core/internal"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { isErrno } from "../errno.ts"
import { LeanStarter, markName } from "./launcher/launcher-client.ts"
import { launchOf } from "./prepared-launch.ts"
import { type Moment, thisMoment } from "./process-table.ts"
import { endTree, graceMs } from "./process-tree.ts"
import { cleanUp, RunningProgram } from "./running-program.ts"
import { DirectStarter } from "./start-direct.ts"
import type { Start } from "./started.ts"
import { systemProgram } from "./system-programs.ts"

type RunError = ToolError<RunErrorCode>

/** Programs started from this process itself, without a launcher: for systems that have no /proc. */
export const directProcesses: Layer.Layer<Processes> = Layer.effect(
  Processes,
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => new DirectStarter()),
      (starter) => Effect.promise(() => starter.close())
    ),
    ({ start }) => serviceOf(start, `direct-${process.pid}`)
  )
)

// The launcher hands descriptors to its shell and reads named pipes in ways that Bun and Deno don't support.
const isNode = process.versions["bun"] === undefined && process.versions["deno"] === undefined

/** Programs on this machine. When the host ends, whatever way, all that it started ends too. */
export const nodeProcesses: Layer.Layer<Processes> =
  process.platform === "linux" && isNode
    ? Layer.effect(
        Processes,
        Effect.map(
          Effect.acquireRelease(
            Effect.sync(() => new LeanStarter()),
            (starter) => Effect.promise(() => starter.close())
          ),
          ({ start, host, watch }) => serviceOf(start, host, watch)
        )
      )
    : directProcesses

const serviceOf = (start: Start, host: string, watch = () => Promise.resolve()): Processes["Service"] => {
  let count = 0
  const newMark = (): ProcessMark => ({ name: markName, value: `${host}.${++count}` })
  /** When marks for others were given. */
  const moments = new WeakMap<ProcessMark, Moment>()
  return {
    run: (command, options = {}) =>
      Effect.callback<ProcessEnd, RunError>((resume) => {
        const program = new RunningProgram(start, newMark(), command, options)
        program.run().then(
          (end) => resume(Effect.succeed(end)),
          (cause: unknown) => resume(isToolError(cause) ? Effect.fail(cause as RunError) : Effect.die(cause))
        )
        return Effect.promise(() => program.stop())
      }).pipe(stepSpan("run")),
    end: (tree) => {
      const since = tree.mark === undefined ? undefined : moments.get(tree.mark)
      return Effect.promise(() => endTree(tree, { graceMs, since }))
    },
    mark: Effect.promise(watch).pipe(
      Effect.map(newMark),
      Effect.tap((mark) => Effect.sync(() => moments.set(mark, thisMoment())))
    ),
    release: (command) =>
      Effect.suspend(() => {
        const launch = launchOf(command)
        return Effect.andThen(
          launch.alsoKill ?? Effect.void,
          Effect.promise(() => cleanUp(launch))
        )
      }),
    inspect: (command) => launchOf(command).inspectRunning ?? Effect.succeed([]),
    systemProgram,
    feed
  }
}

const feed = (terminal: number, bytes: Uint8Array): number => {
  try {
    return writeSync(terminal, bytes)
  } catch (cause) {
    if (isErrno(cause, "EAGAIN")) return 0
    throw cause
  }
}
