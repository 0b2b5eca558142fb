import { type Answer, CurrentCall, reasonOf } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { Asker, type Question } from "./asker.ts"
import { describeRequest, type RequestDescription } from "./describe-request.ts"

/** Asks a function of the host's own. The signal ends when nobody waits for the answer any more. */
export const askCallback = (
  answer: (
    question: Question,
    context: { readonly description: RequestDescription; readonly signal: AbortSignal }
  ) => Answer | Promise<Answer>
): Layer.Layer<Asker> =>
  Layer.succeed(Asker, {
    ask: (question) =>
      Effect.tryPromise((signal) =>
        Promise.resolve(answer(question, { description: describeRequest(question), signal }))
      ).pipe(
        Effect.catch(({ cause }) =>
          Effect.succeed({
            approved: false,
            unanswered: true,
            reason: `asking failed: ${reasonOf(cause)}`
          })
        )
      )
  })

/** Asks whoever made the call, where the caller can be asked, and the other asker where it can't. */
export const askCallerOr = (other: Layer.Layer<Asker>): Layer.Layer<Asker> =>
  Layer.effect(
    Asker,
    Effect.gen(function* () {
      const fallback = yield* Asker
      return {
        ask: (question) =>
          CurrentCall.use(({ ask }): Effect.Effect<Answer> => ask?.(question) ?? fallback.ask(question))
      }
    })
  ).pipe(Layer.provide(other))

/** Nobody is there: every question is answered no. */
export const askNobody: Layer.Layer<Asker> = Layer.succeed(Asker, {
  ask: () =>
    Effect.succeed({
      approved: false,
      unanswered: true,
      reason: "nobody is there to approve; a rule can allow this call"
    })
})
