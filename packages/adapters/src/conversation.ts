import type { Answer, ApprovalQuestion, Progress, Reply } from "@haft/core"
import type { OpenHost } from "@haft/core/promise"

/** How far a call has come: it is over, or it waits for a person. */
export type ConversationStep = { readonly reply: Reply } | { readonly question: ApprovalQuestion }

/**
 * A call that can stop to ask a question, and goes on with the answer. It is a single call all the time: what the
 * person was shown is what runs, and it is recorded once.
 */
export interface Conversation {
  readonly tool: string
  /** Waits for the reply or for the next question. */
  readonly next: () => Promise<ConversationStep>
  /** Answers the question that `next` returned last. */
  readonly answer: (answer: Answer) => void
  /** Interrupts the call and whatever it runs. */
  readonly cancel: (reason: unknown) => void
}

export interface ConversationOptions {
  readonly onProgress: (progress: Progress) => void
  /** True if questions become steps of the conversation; if not, the host asks somebody else. */
  readonly asks: boolean
  /** The caller's span, as W3C's `traceparent`. */
  readonly traceParent?: string
}

export const converse = (
  host: Pick<OpenHost, "call">,
  tool: string,
  args: unknown,
  { onProgress, asks, traceParent }: ConversationOptions
): Conversation => {
  const controller = new AbortController()
  let told = Promise.withResolvers<ConversationStep>()
  let answered = Promise.withResolvers<Answer>()
  host
    .call(tool, args, {
      signal: controller.signal,
      onProgress,
      ...(traceParent !== undefined && { traceParent }),
      ...(asks && {
        ask: (question: ApprovalQuestion) => {
          answered = Promise.withResolvers()
          told.resolve({ question })
          return answered.promise
        }
      })
    })
    .then(
      (reply) => told.resolve({ reply }),
      (cause: unknown) => {
        // If nobody is waiting in `next`, a rejection that nobody handles must not reach the process.
        told.promise.catch(() => undefined)
        told.reject(cause)
      }
    )
  return {
    tool,
    next: () => told.promise,
    answer: (answer) => {
      told = Promise.withResolvers()
      answered.resolve(answer)
    },
    cancel: (reason) => controller.abort(reason)
  }
}
