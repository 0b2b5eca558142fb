import type * as Effect from "effect/Effect"

import type { ManagedProcess } from "../managed-processes/managed-process.ts"
import { ManagedProcesses } from "../managed-processes/managed-processes.ts"

/** Background processes of the current caller, oldest first. */
export const listProcesses: Effect.Effect<
  ReadonlyArray<ManagedProcess>,
  never,
  ManagedProcesses
> = ManagedProcesses.use(({ list }) => list)
