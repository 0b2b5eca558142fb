import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

import type { Call } from "../pipeline/call.ts"
import type { ToolError } from "../tool-error.ts"
import type { Facts } from "../touches.ts"

export interface CallLedgerService {
  /**
   * Claims a call by its id, after it was approved and before it has any effect. Fails where an earlier call with this id
   * had effects, or may have had some, so that no effect happens twice.
   */
  readonly claim: (
    call: Pick<Call, "id" | "tool">,
    facts: Facts
  ) => Effect.Effect<void, ToolError<"already_applied" | "unknown_outcome" | "cluster_unavailable">>
}

/** The ledger of calls that several hosts share; absent for a host that works alone. */
export const CallLedger = Context.Reference<CallLedgerService | undefined>("@haft/core/CallLedger", {
  defaultValue: () => undefined
})

/** True for a call with effects beyond files, which no commit log has: commands, terminals, requests. */
export const hasOutsideEffects = ({ runs, fetches, types, writes, risk }: Facts): boolean =>
  runs !== undefined || fetches !== undefined || types !== undefined || (risk !== "read_only" && writes.length === 0)
