import type { Progress } from "@haft/core"
import type { JSONRPCNotification, ProgressToken } from "@modelcontextprotocol/server"

/** Sends the progress of a call to the client, if the client has asked for that with a token. */
export const progressTo = (
  progressToken: ProgressToken | undefined,
  notify: (message: JSONRPCNotification) => void
): ((progress: Progress) => void) => {
  if (progressToken === undefined) return () => undefined
  let count = 0
  return ({ message, done, total }) => {
    // The protocol requires a number that grows each time, also from a call that counts nothing.
    count = Math.max(count + Number.EPSILON, done ?? count + 1)
    const params = { progressToken, progress: count, message, ...(total !== undefined && { total }) }
    notify({ jsonrpc: "2.0", method: "notifications/progress", params })
  }
}
