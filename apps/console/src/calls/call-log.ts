import type { ApprovalMode, Decision, JournalEvent, Party, Touches } from "../wire.ts"
import { isConnectionEvent, withConnection } from "./connections.ts"

/** One call, put together from its events on record. */
export interface RecordedCall {
  /** `<run>.<step>`: unique in a log, and usable in an address. */
  readonly key: string
  readonly run: string
  readonly step: number
  /** Number of its first event in the record, which leads to all of them. */
  readonly seq: number
  readonly requestId: string
  readonly tool: string
  readonly dialect: string
  /** The agent, where known by name. */
  readonly caller?: Party
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly params: unknown
  readonly status: "running" | "success" | "error"
  readonly error?: string
  readonly durationMs?: number
  /** How much of the duration was spent waiting for a person's answer. */
  readonly waitedMs?: number
  readonly touches?: Touches
  readonly approval?: Decision
  /** The diff that a person was shown and decided about. */
  readonly decidedDiff?: string
  /** When the last approval was given or denied, in milliseconds since the epoch. */
  readonly decidedAt?: number
  readonly reply?: unknown
  /** Outcome of a command's changes, where it ran on an overlay. */
  readonly effects?: CommandEffects
  /** Events about its connections. */
  readonly connections?: ReadonlyArray<JournalEvent>
}

/** Outcome of the changes that a command made on an overlay of the workspace. */
export interface CommandEffects {
  readonly outcome: string
  readonly created: number
  readonly modified: number
  readonly deleted: number
  /** False where undo can't take them back. */
  readonly undoable?: false
  /** Address of the artifact with their diff. */
  readonly diff_path?: string
  readonly left_out?: ReadonlyArray<{ readonly path: string; readonly reason: string }>
}

export interface CallLog {
  readonly byKey: ReadonlyMap<string, RecordedCall>
  /** Oldest first. */
  readonly calls: ReadonlyArray<RecordedCall>
  /** True where older calls were dropped. */
  readonly isCut?: true
  /** The mode after the last change on record; absent where there was none. */
  readonly mode?: { readonly name: ApprovalMode; readonly seq: number }
}

export const emptyLog: CallLog = { byKey: new Map(), calls: [] }

/** The log drops the oldest calls beyond this number, and says so; the record on the server keeps them. */
export const mostCalls = 20_000

/** Adds events to the log, in any order. The same event may come twice: from the record, and from the live stream. */
export const applyEvents = (log: CallLog, run: string, events: ReadonlyArray<JournalEvent>): CallLog => {
  if (events.length === 0) return log
  const byKey = new Map(log.byKey)
  let { mode } = log
  for (const event of events) {
    if (event.type === "mode_changed" && event.seq >= (mode?.seq ?? 0)) {
      mode = { name: event["to"] as ApprovalMode, seq: event.seq }
    }
    const step = event["step"]
    if (typeof step !== "number") continue
    const key = `${run}.${step}`
    const next = withEvent(byKey.get(key) ?? unknownCall(key, run, step, event), event)
    if (next !== undefined) byKey.set(key, { ...next, seq: Math.min(next.seq, event.seq) })
  }
  const calls = [...byKey.values()].toSorted((one, other) => one.startedAt - other.startedAt || one.step - other.step)
  const modes = mode === undefined ? {} : { mode }
  const cut = log.isCut === true ? { isCut: true as const } : {}
  if (calls.length <= mostCalls) return { byKey, calls, ...cut, ...modes }
  const kept = calls.slice(-mostCalls)
  return { byKey: new Map(kept.map((call) => [call.key, call])), calls: kept, isCut: true, ...modes }
}

/** The log of a run that is over. */
export const logOf = (run: string, events: ReadonlyArray<JournalEvent>): CallLog => applyEvents(emptyLog, run, events)

const unknownCall = (key: string, run: string, step: number, event: JournalEvent): RecordedCall => ({
  key,
  run,
  step,
  seq: event.seq,
  requestId: textOf(event["request_id"]),
  tool: textOf(event["tool"]),
  dialect: textOf(event["dialect"]),
  startedAt: Date.parse(event.at),
  params: undefined,
  status: "running"
})

const withEvent = (call: RecordedCall, event: JournalEvent): RecordedCall | undefined => {
  if (isConnectionEvent(event)) return { ...call, connections: withConnection(call.connections, event) }
  switch (event.type) {
    case "tool_call_started":
      return {
        ...call,
        dialect: textOf(event["dialect"]),
        ...callerIn(event),
        startedAt: Date.parse(event.at),
        params: event["params"]
      }
    case "approval_decided":
      return {
        ...call,
        approval: call.approval ?? (event as unknown as Decision),
        decidedAt: Date.parse(event.at),
        ...(typeof event["diff"] === "string" && { decidedDiff: event["diff"] })
      }
    case "command_effects":
      return { ...call, effects: event as unknown as CommandEffects }
    case "tool_call_finished": {
      const { error, duration_sec: seconds, waited_sec: waited, touches, approval } = event as unknown as FinishedEvent
      return {
        ...call,
        status: event["status"] === "success" ? "success" : "error",
        ...(error !== undefined && { error }),
        ...(seconds !== undefined && { durationMs: seconds * 1000 }),
        ...(waited !== undefined && { waitedMs: waited * 1000 }),
        ...(touches !== undefined && { touches }),
        ...(approval !== undefined && { approval }),
        reply: event["reply"]
      }
    }
    default:
      return undefined
  }
}

interface FinishedEvent {
  readonly error?: string
  readonly duration_sec?: number
  readonly waited_sec?: number
  readonly touches?: Touches
  readonly approval?: Decision
}

const callerIn = (event: JournalEvent): { readonly caller?: Party } => {
  const { caller } = event as { readonly caller?: Party }
  return caller === undefined ? {} : { caller }
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "")
