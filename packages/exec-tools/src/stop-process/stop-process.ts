import * as Effect from "effect/Effect"

import { ManagedProcesses } from "../managed-processes/managed-processes.ts"
import { type OutputRequest, readRetained } from "../managed-processes/output-reading.ts"

/** Ends a background process with all that it started: SIGTERM, a short grace, SIGKILL. Its output stays readable. */
export const stopProcess = Effect.fnUntraced(function* (id: string, request: OutputRequest) {
  const processes = yield* ManagedProcesses
  const managed = yield* processes.find(id)
  const wasRunning = managed.end === undefined
  if (wasRunning && managed.program !== undefined) yield* managed.program.stop
  return { managed, wasRunning, ...(yield* readRetained(managed, request)) }
})
