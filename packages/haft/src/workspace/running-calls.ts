import type { Call, Party, Reply } from "@haft/core"
import type { OpenHost } from "@haft/core/promise"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"

/** A call that has begun and not ended. */
export interface RunningCall {
  /** Number of the call in its run. */
  readonly step: number
  readonly id: string
  readonly tool: string
  readonly caller?: Party
  /** Milliseconds since the epoch. */
  readonly startedAt: number
}

/** The calls of a workspace that are under way, in all dialects, and the way to stop one. */
export interface RunningCalls {
  /** Oldest first. */
  readonly list: () => ReadonlyArray<RunningCall>
  /** Ends a call with `cancelled`, told who stopped it and why. False when no such call is under way. */
  readonly stop: (step: number, by?: Party, reason?: string) => boolean
}

/** Keeps track of the calls that go through a host. */
export const trackCalls = (): RunningCalls & { readonly tracked: (host: OpenHost) => OpenHost } => {
  const running = new Map<number, { readonly call: Call; readonly stop: Deferred.Deferred<string> }>()
  return {
    list: () => [...running.values()].map(({ call }) => runningCall(call)),
    stop: (step, by, reason) => {
      const found = running.get(step)
      if (found === undefined) return false
      const who = by === undefined ? "a person" : by.name
      const why = reason === undefined || reason === "" ? "" : `: ${reason}`
      return Deferred.doneUnsafe(found.stop, Effect.succeed(`the call was stopped by ${who}${why}`))
    },
    tracked: (host) => {
      const call: OpenHost["call"] = async (tool, args, options = {}): Promise<Reply> => {
        const stop = Deferred.makeUnsafe<string>()
        let step: number | undefined
        const onStarted = (started: Call): void => {
          step = started.step
          running.set(step, { call: started, stop })
          options.onStarted?.(started)
        }
        try {
          return await host.call(tool, args, { ...options, onStarted, stop: Deferred.await(stop) })
        } finally {
          if (step !== undefined) running.delete(step)
        }
      }
      return { ...host, call, tool: (name) => (args, options) => call(name, args, options) }
    }
  }
}

const runningCall = ({ step, id, tool, caller, startedAt }: Call): RunningCall => ({
  step,
  id,
  tool,
  ...(caller !== undefined && { caller }),
  startedAt
})
