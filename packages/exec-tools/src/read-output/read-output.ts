import * as Effect from "effect/Effect"

import { ManagedProcesses } from "../managed-processes/managed-processes.ts"
import { type OutputRequest, readRetained } from "../managed-processes/output-reading.ts"

/** Reads what a background process printed: since a cursor, its last lines, or lines that match. */
export const readOutput = Effect.fnUntraced(function* (id: string, request: OutputRequest) {
  const processes = yield* ManagedProcesses
  const managed = yield* processes.find(id)
  return { managed, ...(yield* readRetained(managed, request)) }
})
