import { singleLine, type Touches, Workspace } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { readLines } from "../read-file/read-file.ts"

const input = z.strictObject({
  paths: z.array(z.string()).min(1).max(100).describe("Files, relative to the workspace"),
  max_lines: z.number().int().min(1).max(100_000).default(2000).describe("Most lines of each"),
  max_bytes: z.number().int().min(1).max(67_108_864).default(262_144).describe("Most bytes of all together")
})

type Input = z.output<typeof input>

/** Paths of a call that rules and approval have judged. Only these are read. */
const judged = new WeakMap<Input, ReadonlyArray<string>>()

// A path that leads out of the workspace fails alone and not the whole call.
const touchesOf = Effect.fnUntraced(function* (call: Input): Effect.fn.Return<Touches, never, Workspace> {
  const workspace = yield* Workspace
  const reads: Array<string> = []
  for (const path of new Set(call.paths)) {
    const contained = yield* Effect.result(workspace.contain(path))
    if (contained._tag === "Success") reads.push(path)
  }
  judged.set(call, reads)
  return { reads }
})

const fileShape = z.object({
  path: z.string(),
  content: z.string().optional(),
  total_lines: z.number().optional(),
  truncated: z.boolean().optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional()
})

export const haftReadFiles = haft.tool({
  name: "read_files",
  profile: "all",
  operation: "read-files",
  description: "Read several text files in one call. One that can't be read does not spoil the others.",
  input,
  output: z.object({ files: z.array(fileShape), failed: z.number() }),
  risk: "read_only",
  timeout: "60 seconds",
  touches: touchesOf,
  execute: Effect.fnUntraced(function* (call) {
    const workspace = yield* Workspace
    const allowed = judged.get(call) ?? []
    const files: Array<z.input<typeof fileShape>> = []
    let left = call.max_bytes
    for (const path of call.paths) {
      // A file that was refused before is looked at again only for its error.
      const read = allowed.includes(path)
        ? readLines(path, { end: call.max_lines, maxBytes: left, anyEncoding: true })
        : Effect.as(workspace.contain(path), undefined)
      const result = yield* Effect.result(read)
      if (result._tag === "Failure") {
        const { code, message } = result.failure
        files.push({ path, error: { code, message } })
        continue
      }
      if (result.success === undefined) {
        files.push({ path, error: { code: "stale_file", message: `${path} changed while it was judged` } })
        continue
      }
      const { text, totalLines, keptLines, cutByBytes } = result.success
      left = Math.max(0, left - Buffer.byteLength(text))
      files.push({ path, content: text, total_lines: totalLines, truncated: cutByBytes || keptLines < totalLines })
    }
    return { files, failed: files.filter(({ error }) => error !== undefined).length }
  }),
  render: ({ files }) =>
    files
      .map(({ path, content = "", truncated, error }) =>
        [
          `--- ${singleLine(path)} ---`,
          error === undefined ? content.replace(/\n$/, "") : `Error: ${error.message}`,
          ...(truncated === true ? ["[the rest left out]"] : [])
        ].join("\n")
      )
      .join("\n")
})
