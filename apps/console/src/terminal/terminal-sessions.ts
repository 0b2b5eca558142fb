import type { RecordedCall } from "../calls/call-log.ts"
import { isObject } from "../is-object.ts"
import type { OpenTerminal } from "../wire.ts"

/** A terminal to look at: one that the server still has, or one of which only the recording is left. */
export interface TerminalSession extends Pick<OpenTerminal, "id" | "command" | "openedAt" | "isRunning"> {
  /** Where to find the recording of one that is gone. */
  readonly recorded?: { readonly run: string; readonly path: string }
  /** How it ended, where that is known. */
  readonly end?: string
  readonly hasFailed?: boolean
}

/** The terminals of a workspace, newest first. */
export const sessionsOf = (
  open: ReadonlyArray<OpenTerminal>,
  calls: ReadonlyArray<RecordedCall>
): ReadonlyArray<TerminalSession> => {
  const isOpen = new Set(open.map(({ id }) => id))
  const gone = calls.flatMap(recordedBy).filter(({ id }) => !isOpen.has(id))
  return [...gone, ...open.map(sessionOf)].toSorted((one, other) => other.openedAt - one.openedAt)
}

const sessionOf = ({ id, command, openedAt, isRunning, exitCode, signal }: OpenTerminal): TerminalSession => ({
  id,
  command,
  openedAt,
  isRunning,
  ...(!isRunning && { end: signal ?? `exit code ${exitCode}`, hasFailed: exitCode !== 0 })
})

const recordedBy = ({ reply, run, touches, startedAt }: RecordedCall): ReadonlyArray<TerminalSession> => {
  const result = isObject(reply) ? reply["result"] : undefined
  if (!isObject(result)) return []
  const { terminal_id: id, recording: path } = result
  if (typeof id !== "string" || typeof path !== "string") return []
  return [{ id, command: touches?.runs ?? "", openedAt: startedAt, isRunning: false, recorded: { run, path } }]
}
