import {
  askCallerOr,
  type Asker,
  askNobody,
  describeRequest,
  policyApprover,
  printRequest,
  type Question,
  stateRules
} from "@haft/approval"
import type { ApprovalQuestion, Approver, StateFiles, Workspace } from "@haft/core"
import * as Layer from "effect/Layer"

import type { HaftConfig } from "../config/config.ts"

/** Decides by the rules in the host's state, then by mode; asks whoever made the call, or else `asker`. */
export const standardApprover = (
  { approval: mode = "ask", approvalOptions: { timeoutMs, alsoAsk = [] } = {} }: HaftConfig,
  asker: Layer.Layer<Asker> = askNobody
): Layer.Layer<Approver, never, StateFiles | Workspace> =>
  policyApprover({ mode, ask: alsoAsk, ...(timeoutMs !== undefined && { timeout: timeoutMs }) }).pipe(
    Layer.provide(Layer.merge(stateRules, askCallerOr(asker)))
  )

/** A question as a person reads it: what would run on what, and the change in full. */
export const describeQuestion = (question: ApprovalQuestion): string => {
  const description = describeRequest(question as Question)
  return [description.detail, printRequest(description, question)]
    .filter((part) => part !== undefined && part !== "")
    .join("\n\n")
}
