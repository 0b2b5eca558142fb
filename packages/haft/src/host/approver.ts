import {
  type AgentControl,
  askCallerOr,
  type Asker,
  askNobody,
  describeRequest,
  modeSwitch,
  type ModeSwitch,
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
  config: HaftConfig,
  { asker = askNobody, mode = modeSwitch(config.mode), expiryMs, agents }: ApproverOptions = {}
): Layer.Layer<Approver, never, StateFiles | Workspace> => {
  const { approval: answers = "ask", approvalOptions: { timeoutMs = expiryMs, alsoAsk = [], deletedFiles } = {} } =
    config
  return policyApprover({
    answers,
    mode,
    ask: alsoAsk,
    ...(deletedFiles !== undefined && { modeLimits: { deletedFiles } }),
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
    ...(agents !== undefined && { agents })
  }).pipe(Layer.provide(Layer.merge(stateRules, askCallerOr(asker))))
}

export interface ApproverOptions {
  /** Approver for callers that can't be asked themselves. By default there is none, so the answer is no. */
  readonly asker?: Layer.Layer<Asker>
  /** A mode that can change while calls run; the configuration's when absent. */
  readonly mode?: ModeSwitch
  /** How long a question waits where the configuration does not say; five minutes when absent. */
  readonly expiryMs?: number
  /** Holds calls of paused agents; none is ever held when absent. */
  readonly agents?: AgentControl
}

/** A question as a person reads it: what would run on what, and the change in full. */
export const describeQuestion = (question: ApprovalQuestion): string => {
  const description = describeRequest(question as Question)
  return [description.detail, printRequest(description, question)]
    .filter((part) => part !== undefined && part !== "")
    .join("\n\n")
}
