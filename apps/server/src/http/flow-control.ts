import { Problem } from "./problem.ts"

/** How much work is taken on before clients are told to wait. */
export interface FlowLimits {
  /** Calls of one client at once. */
  readonly perClient: number
  /** Calls of all clients at once. */
  readonly total: number
}

export interface FlowControl {
  readonly inFlight: () => number
  readonly isStopped: () => boolean
  /**
   * Starts a piece of work, or fails with 429 or 503 at once: a queue would only hide that there is too much. The
   * returned function must be called when the work has ended; calling it again does nothing.
   */
  readonly enter: (client: string) => () => void
  /** From now on `enter` fails. */
  readonly stop: () => void
  /** Resolves when all work has ended. */
  readonly idle: () => Promise<void>
}

export const flowControl = ({ perClient, total }: FlowLimits): FlowControl => {
  const counts = new Map<string, number>()
  let sum = 0
  let isStopped = false
  let waiting: Array<() => void> = []

  const leave = (client: string): void => {
    const count = (counts.get(client) ?? 1) - 1
    if (count === 0) counts.delete(client)
    else counts.set(client, count)
    sum--
    if (sum > 0) return
    for (const resolve of waiting) resolve()
    waiting = []
  }

  return {
    inFlight: () => sum,
    isStopped: () => isStopped,
    enter: (client) => {
      const count = counts.get(client) ?? 0
      if (isStopped) throw busy(503, "stopping", "The server is stopping and takes no more calls.")
      if (count >= perClient) {
        throw busy(429, "too_many_calls", `This client has ${count} calls in flight; wait for one to end.`)
      }
      if (sum >= total) throw busy(503, "busy", `The server has ${sum} calls in flight; try again in a moment.`)
      counts.set(client, count + 1)
      sum++
      let hasLeft = false
      return () => {
        if (!hasLeft) leave(client)
        hasLeft = true
      }
    },
    stop: () => {
      isStopped = true
    },
    idle: () => (sum === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve)))
  }
}

const busy = (status: number, code: string, message: string): Problem =>
  new Problem(status, code, message, { "retry-after": "1" })
