import { reportProgress, type ToolError } from "@haft/core"
import * as Effect from "effect/Effect"

import type { ManagedProcess } from "../managed-processes/managed-process.ts"
import { ManagedProcesses } from "../managed-processes/managed-processes.ts"
import { matchingLines, type OutputRequest, readRetained } from "../managed-processes/output-reading.ts"

/** Conditions to wait for; the first that comes true ends the wait, and so does the end of the process. */
export interface Condition {
  /** A line of the output matches this regular expression. */
  readonly pattern?: string | undefined
  /** Byte of the output to look for the pattern from. */
  readonly from: number
  /** Something in the process's network listens on this TCP port. */
  readonly port?: number | undefined
  /** Nothing was printed for so long. */
  readonly quietMs?: number | undefined
  readonly timeoutMs: number
}

export type WaitEnd = "pattern" | "port" | "quiet" | "exit" | "timeout"

const pollMs = 50

/** Waits for a background process to print, listen, fall quiet or end. */
export const waitFor = Effect.fnUntraced(function* (id: string, condition: Condition, request: OutputRequest) {
  const processes = yield* ManagedProcesses
  const managed = yield* processes.find(id)
  // A bad pattern fails at once, not when there is something to match.
  if (condition.pattern !== undefined) yield* matchingLines(condition.pattern, [])
  const began = performance.now()
  let from = condition.from
  let seconds = 0
  for (;;) {
    // Output before its end counts, so the end is looked at first and judged last.
    const hasEnded = managed.end !== undefined
    const waited = performance.now() - began
    const looked = yield* look(managed, condition, from, waited)
    from = looked.from
    const reason: WaitEnd | undefined =
      looked.reason ?? (hasEnded ? "exit" : waited >= condition.timeoutMs ? "timeout" : undefined)
    if (reason !== undefined) {
      return { managed, reason, matched: looked.matched, ...(yield* readRetained(managed, request)) }
    }
    if (waited >= seconds * 1000) yield* reportProgress({ message: `waiting for ${id}`, done: seconds++ })
    yield* Effect.sleep(Math.max(1, Math.min(pollMs, condition.timeoutMs - waited)))
  }
})

interface Look {
  readonly reason?: Exclude<WaitEnd, "exit" | "timeout">
  readonly matched?: string
  /** Where the next look goes on. */
  readonly from: number
}

const look = Effect.fnUntraced(function* (
  { output, running, lastOutputAt }: ManagedProcess,
  { pattern, port, quietMs }: Condition,
  from: number,
  waited: number
): Effect.fn.Return<Look, ToolError<"invalid_pattern">> {
  let next = from
  if (pattern !== undefined && output.end > from) {
    const lines = new TextDecoder().decode(output.slice(from, output.end)).split("\n")
    const [matched] = yield* matchingLines(pattern, lines)
    if (matched !== undefined) return { reason: "pattern", matched: matched.slice(0, 1000), from }
    // The last line may go on.
    next = output.end - Math.min(longestLine, Buffer.byteLength(lines.at(-1) ?? ""))
  }
  if (port !== undefined && running !== undefined && (yield* running.listensOn(port))) {
    return { reason: "port", from: next }
  }
  const quietFor = Math.min(waited, performance.now() - lastOutputAt)
  return {
    ...(quietMs !== undefined && quietFor >= quietMs && { reason: "quiet" as const }),
    from: next
  }
})

const longestLine = 10_000
