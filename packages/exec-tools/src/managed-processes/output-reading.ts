import { createContext, Script } from "node:vm"

import { HeadAndTail, makeToolError, toolError, type ToolError } from "@haft/core"
import * as Effect from "effect/Effect"

import type { ManagedProcess } from "./managed-process.ts"

export interface OutputRequest {
  /** Byte to begin at; where the last reply ended when absent. */
  readonly cursor?: number | undefined
  /** Only so many of the last lines. */
  readonly tailLines?: number | undefined
  /** Only lines that match this regular expression. */
  readonly search?: string | undefined
  readonly maxBytes: number
}

export interface OutputRead {
  readonly output: string
  /** Where the next reading goes on. */
  readonly cursor: number
  readonly truncated: boolean
  readonly omittedBytes: number
  /** Address of the artifact with all of it, where some is left out. */
  readonly artifact?: string
}

/** Reads the retained output of a process. What was shown counts as delivered. */
export const readRetained = Effect.fnUntraced(function* (process: ManagedProcess, request: OutputRequest) {
  const { tailLines, search, maxBytes } = request
  const { output: log, end } = process
  const wanted = tailLines === undefined && search === undefined ? process.delivered : 0
  const from = request.cursor ?? wanted
  if (from > log.end) return yield* beyond(from, log.end)
  const isPlain = tailLines === undefined && search === undefined
  if (isPlain) {
    const { text, cursor, truncated, omittedBytes } = log.since(from, maxBytes, end !== undefined)
    process.delivered = Math.max(process.delivered, cursor)
    return { output: text, cursor, truncated, omittedBytes, ...artifactOf(process, truncated) } satisfies OutputRead
  }
  const kept = new TextDecoder().decode(log.slice(from, log.end))
  const lines = kept.split(/(?<=\n)/)
  const found = search === undefined ? lines : yield* matchingLines(search, lines)
  const shown = new HeadAndTail(maxBytes)
  shown.push(new TextEncoder().encode(found.slice(-(tailLines ?? found.length)).join("")))
  const { text, truncated, omittedBytes } = shown.finish()
  process.delivered = Math.max(process.delivered, log.end)
  return {
    output: text,
    cursor: log.end,
    truncated,
    omittedBytes,
    ...artifactOf(process, truncated)
  } satisfies OutputRead
})

const artifactOf = ({ artifact }: ManagedProcess, truncated: boolean): Pick<OutputRead, "artifact"> =>
  truncated ? { artifact } : {}

const beyond = (cursor: number, end: number) =>
  toolError("invalid_range", `cursor ${cursor} is beyond the output, which ends at ${end}`, {
    suggestion: "Use the cursor of an earlier reply for this process, or none.",
    details: { cursor, end }
  })

/** Milliseconds that matching may take: a pattern can need forever. */
const matchMs = 2000

const matcher = new Script("lines.filter((line) => expression.test(line))")

/** Lines that match a regular expression, within a bounded time. */
export const matchingLines = (
  pattern: string,
  lines: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<string>, ToolError<"invalid_pattern">> =>
  Effect.try({
    try: () => {
      const expression = new RegExp(pattern, "u")
      // A match in a context of its own can be stopped by a time limit.
      return matcher.runInContext(createContext({ lines, expression }), { timeout: matchMs }) as ReadonlyArray<string>
    },
    catch: (cause) =>
      makeToolError(
        "invalid_pattern",
        cause instanceof SyntaxError
          ? `'${pattern}' is not a regular expression: ${cause.message}`
          : `'${pattern}' takes more than ${matchMs} ms to match`,
        { suggestion: "Correct or simplify the pattern.", details: { pattern } }
      )
  })
