import { toolError } from "@haft/core"
import { ManagedProcesses, readOutput } from "@haft/exec-tools/operations"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

const directory = "/haft/tasks/"

/** The path by which Read finds the output of a background task. There is no such file: the host keeps the output. */
export const outputPathOf = (task: string): string => `${directory}${task}.output`

/** The task whose output a path stands for. */
export const taskAt = (path: string): string | undefined =>
  path.startsWith(directory) && path.endsWith(".output") ? path.slice(directory.length, -".output".length) : undefined

const mostBytes = 256 * 1024

/** All that a task has printed, as far as the host keeps it. */
export const taskOutput = Effect.fnUntraced(function* (task: string) {
  const processes = yield* Effect.serviceOption(ManagedProcesses)
  if (Option.isNone(processes)) return yield* toolError("session_not_found", `No task found with ID: ${task}`)
  const read = readOutput(task, { cursor: 0, maxBytes: mostBytes })
  const { output } = yield* Effect.provideService(read, ManagedProcesses, processes.value)
  return output
})
