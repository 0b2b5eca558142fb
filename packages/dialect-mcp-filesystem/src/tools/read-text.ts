import { toolError, type Workspace } from "@haft/core"
import { type Lines, readLines } from "@haft/fs-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { locate } from "../allowed-directories.ts"
import { mcpFilesystem } from "../dialect.ts"
import { inSystemWords } from "../system-errors.ts"

const input = z.strictObject({
  path: z.string().describe("File, absolute or relative to the first allowed directory"),
  tail: z.number().optional().describe("Return only this many lines at the end"),
  head: z.number().optional().describe("Return only this many lines at the beginning")
})

const readText = Effect.fnUntraced(function* ({ path, head, tail }: z.output<typeof input>) {
  if (isAsked(head) && isAsked(tail)) {
    return yield* toolError("invalid_range", "Cannot specify both head and tail parameters simultaneously")
  }
  const located = yield* locate(path)
  const reading = isAsked(tail) ? lastLines(located.path, tail) : firstLines(located.path, head)
  return yield* inSystemWords({ call: "open", path: located.absolute })(reading)
})

const isAsked = (lines: number | undefined): lines is number => lines !== undefined && lines > 0

type ReadFailure = Effect.Error<ReturnType<typeof readLines>>

/** The whole text, or its first lines without the newline that ends them. */
const firstLines = (path: string, count: number | undefined): Effect.Effect<string, ReadFailure, Workspace> => {
  if (!isAsked(count)) return Effect.map(readLines(path, { anyEncoding: true }), ({ text }) => text)
  const read = readLines(path, { end: Math.ceil(count), anyEncoding: true })
  return Effect.map(read, ({ text }) => text.replace(/\n$/, ""))
}

// A text is split at its newlines, so that a final newline counts as one more line, an empty one.
const lastLines = Effect.fnUntraced(function* (
  path: string,
  count: number
): Effect.fn.Return<string, ReadFailure, Workspace> {
  const { totalLines }: Lines = yield* readLines(path, { end: 0, anyEncoding: true })
  const start = Math.max(1, totalLines - Math.ceil(count) + 1)
  const { text } = yield* readLines(path, { start, anyEncoding: true })
  return text.split("\n").slice(-Math.ceil(count)).join("\n")
})

const definition = {
  operation: "read-file",
  input,
  output: z.strictObject({ content: z.string() }),
  risk: "read_only",
  timeout: "60 seconds",
  touches: ({ path }: z.output<typeof input>) => Effect.map(locate(path), (located) => ({ reads: [located.path] })),
  execute: (call: z.output<typeof input>) => Effect.map(readText(call), (content) => ({ content })),
  render: ({ content }: { readonly content: string }) => content
} as const

export const readTextFile = mcpFilesystem.tool({
  ...definition,
  name: "read_text_file",
  description:
    "Read a text file inside the allowed directories: all of it, or with `head` or `tail` only lines at one end. " +
    "UTF-8, UTF-16 with a byte order mark and Latin-1 are read as text."
})

export const readFile = mcpFilesystem.tool({
  ...definition,
  name: "read_file",
  description: "Read a text file. Deprecated: read_text_file does the same."
})

/** The text of one of several files. */
export const wholeText = (path: string) =>
  Effect.flatMap(locate(path), (located) =>
    inSystemWords({ call: "open", path: located.absolute })(firstLines(located.path, undefined))
  )
