import { askCallerOr, askNobody, policyApprover, stateRules } from "@haft/approval"
import type { Approver, StateFiles, Workspace } from "@haft/core"
import * as Layer from "effect/Layer"

import type { ApprovalMode } from "./config.ts"

/** Decides by the rules in the state directory and by mode, and asks whoever made the call. */
export const standardApprover = (mode: ApprovalMode): Layer.Layer<Approver, never, StateFiles | Workspace> =>
  policyApprover({ mode }).pipe(Layer.provide(Layer.merge(askCallerOr(askNobody), stateRules)))
