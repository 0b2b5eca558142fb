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

/** Milliseconds that matching may take in all: a pattern can need forever. */
const matchMs = 2000
/** Milliseconds that other calls may have to wait for one slice. */
const sliceMs = 250
/** Characters of lines that are matched in one slice; a longer line is a slice of its own. */
const sliceCharacters = 65_536

// Without the end of the line, so that `$` means the end of its text.
const matcher = new Script("lines.filter((line) => expression.test(line.replace(/\\r?\\n$/, '')))")

/** Lines that match a regular expression, in bounded time and in slices between which other calls go on. */
export const matchingLines = Effect.fnUntraced(function* (
  pattern: string,
  lines: ReadonlyArray<string>
): Effect.fn.Return<ReadonlyArray<string>, ToolError<"invalid_pattern">> {
  const expression = yield* Effect.try({
    try: () => new RegExp(pattern, "u"),
    catch: (cause) => invalid(pattern, `is not a regular expression: ${(cause as Error).message}`)
  })
  const until = performance.now() + matchMs
  const found: Array<string> = []
  for (let from = 0; from < lines.length;) {
    const slice = sliceFrom(lines, from)
    const matched = yield* Effect.try({
      // A match in a context of its own can be stopped by a time limit.
      try: () =>
        matcher.runInContext(createContext({ lines: slice, expression }), {
          timeout: sliceMs
        }) as ReadonlyArray<string>,
      catch: () => invalid(pattern, `takes too long to match`)
    })
    for (const line of matched) found.push(line)
    from += slice.length
    if (from < lines.length && performance.now() > until) {
      return yield* invalid(pattern, `takes more than ${matchMs} ms to match`)
    }
    yield* Effect.yieldNow
  }
  return found
})

const sliceFrom = (lines: ReadonlyArray<string>, from: number): ReadonlyArray<string> => {
  let characters = 0
  let end = from
  while (end < lines.length && (end === from || characters <= sliceCharacters)) characters += lines[end++]?.length ?? 0
  return lines.slice(from, end)
}

const invalid = (pattern: string, problem: string): ToolError<"invalid_pattern"> =>
  makeToolError("invalid_pattern", `'${pattern}' ${problem}`, {
    suggestion: "Correct or simplify the pattern.",
    details: { pattern }
  })
