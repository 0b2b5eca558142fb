import type { RecordedCall } from "./call-log.ts"
import { isObject } from "./describe-call.ts"

/** A terminal that some call opened and whose screen is recorded. */
export interface TerminalSession {
  readonly id: string
  readonly run: string
  readonly recording: string
  readonly command: string
  readonly openedAt: number
  readonly isRunning: boolean
}

/** The terminals of a log, newest first. A later call tells when one has ended. */
export const sessionsIn = (calls: ReadonlyArray<RecordedCall>): ReadonlyArray<TerminalSession> => {
  const sessions = new Map<string, TerminalSession>()
  for (const call of calls) {
    const result = resultOf(call)
    const id = result?.["terminal_id"]
    if (result === undefined || typeof id !== "string") continue
    const known = sessions.get(id)
    const isRunning = result["state"] === "running" && call.tool !== "close_terminal"
    if (known !== undefined) sessions.set(id, { ...known, isRunning: known.isRunning && isRunning })
    else if (typeof result["recording"] === "string") {
      sessions.set(id, {
        id,
        run: call.run,
        recording: result["recording"],
        command: call.touches?.runs ?? "",
        openedAt: call.startedAt,
        isRunning
      })
    }
  }
  return [...sessions.values()].toReversed()
}

const resultOf = ({ reply }: RecordedCall): Readonly<Record<string, unknown>> | undefined => {
  if (!isObject(reply)) return undefined
  return isObject(reply["result"]) ? reply["result"] : undefined
}
