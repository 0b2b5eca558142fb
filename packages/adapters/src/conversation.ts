import type { Answer, ApprovalQuestion, Progress, Reply } from "@haft/core"
import type { OpenHost } from "@haft/core/promise"

/** Where a call stands: it is over, or it waits for a person. */
export type Step = { readonly reply: Reply } | { readonly question: ApprovalQuestion }

/**
 * A call that stops to ask and goes on with the answer. It is one call all the while: what was shown to the person
 * is what runs, and it is on record once.
 */
export interface Conversation {
  readonly next: () => Promise<Step>
  readonly answer: (answer: Answer) => void
  /** Ends the call and whatever it runs. */
  readonly cancel: (reason: unknown) => void
}

export interface ConversationOptions {
  readonly onProgress: (progress: Progress) => void
  /** Whether the caller can be asked; if not, the host asks whom it can. */
  readonly asks: boolean
  /** The caller's own span. */
  readonly traceParent?: string
}

export const converse = (
  host: Pick<OpenHost, "call">,
  tool: string,
  args: unknown,
  { onProgress, asks, traceParent }: ConversationOptions
): Conversation => {
  const controller = new AbortController()
  let told = Promise.withResolvers<Step>()
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
        // A call that is cancelled while nobody waits for it has nobody to tell.
        told.promise.catch(() => undefined)
        told.reject(cause)
      }
    )
  return {
    next: () => told.promise,
    answer: (answer) => {
      told = Promise.withResolvers()
      answered.resolve(answer)
    },
    cancel: (reason) => controller.abort(reason)
  }
}
