import type { Progress } from "@haft/core"
import type { JSONRPCNotification, ProgressToken } from "@modelcontextprotocol/server"

/** Tells a client that wants to know how far its call is. */
export const progressTo = (
  progressToken: ProgressToken | undefined,
  notify: (message: JSONRPCNotification) => void
): ((progress: Progress) => void) => {
  if (progressToken === undefined) return () => undefined
  let count = 0
  return ({ message, done, total }) => {
    // The protocol wants a number that grows, also from a call that has none to give.
    count = Math.max(count + Number.EPSILON, done ?? count + 1)
    const params = { progressToken, progress: count, message, ...(total !== undefined && { total }) }
    notify({ jsonrpc: "2.0", method: "notifications/progress", params })
  }
}
