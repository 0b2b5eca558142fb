import { type Answer, type ApprovalQuestion, Approver } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** An approver that follows a script and keeps every question it was asked. */
export interface ScriptedApprover {
  readonly layer: Layer.Layer<Approver>
  readonly questions: ReadonlyArray<ApprovalQuestion>
}

/** Asks whenever the contract wants a person, and answers with `answer`; yes to everything by default. */
export const scriptedApprover = (
  answer: (question: ApprovalQuestion) => Answer | Promise<Answer> = () => ({ approved: true })
): ScriptedApprover => {
  const questions: Array<ApprovalQuestion> = []
  const layer = Layer.succeed(Approver, {
    judge: ({ asks }) =>
      Effect.succeed(
        asks
          ? { decision: "ask", reason: "the contract asks for approval" }
          : { decision: "allow", reason: "the contract does not ask for approval" }
      ),
    ask: (question) => {
      questions.push(question)
      return Effect.promise(async () => answer(question))
    }
  })
  return { layer, questions }
}
