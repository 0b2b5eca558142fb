import { randomUUID } from "node:crypto"

import type { Conversation } from "../conversation.ts"

const patienceMs = 10 * 60 * 1000
const seats = 100

/**
 * Calls that wait for an answer, by ticket. One that waits too long is cancelled; if there are too many, the oldest.
 */
export const waitingRoom = () => {
  const calls = new Map<string, { readonly conversation: Conversation; readonly timer: NodeJS.Timeout }>()
  const leave = (ticket: string): Conversation | undefined => {
    const found = calls.get(ticket)
    calls.delete(ticket)
    clearTimeout(found?.timer)
    return found?.conversation
  }
  const giveUp = (ticket: string): void => leave(ticket)?.cancel(new Error("nobody answered the question"))
  return {
    leave,
    enter: (conversation: Conversation): string => {
      const [oldest] = calls.keys()
      if (calls.size >= seats && oldest !== undefined) giveUp(oldest)
      const ticket = randomUUID()
      calls.set(ticket, { conversation, timer: setTimeout(giveUp, patienceMs, ticket).unref() })
      return ticket
    }
  }
}
