import { Approver, CurrentCall } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import type { ApprovalMode } from "./config.ts"

/** Decides by mode, and asks whoever made the call. */
export const standardApprover = (mode: ApprovalMode): Layer.Layer<Approver> =>
  Layer.succeed(Approver, {
    judge: ({ asks }) =>
      Effect.succeed(
        !asks
          ? { decision: "allow", reason: "the contract does not ask before this" }
          : mode === "all"
            ? { decision: "allow", reason: "this host approves everything" }
            : mode === "none"
              ? { decision: "deny", reason: "it needs approval, and this host never asks" }
              : { decision: "ask", reason: "the contract asks before this" }
      ),
    ask: (question) =>
      CurrentCall.use(
        ({ ask }) =>
          ask?.(question) ??
          Effect.succeed({ approved: false, reason: "it needs approval, and nobody is there to ask" })
      )
  })
