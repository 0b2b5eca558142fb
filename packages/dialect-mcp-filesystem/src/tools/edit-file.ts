import { type ChangePlan, type DiffHunk, diffHunks, singleLine, toolError, type ToolError } from "@haft/core"
import { type EditedText, planEdits, planOnce } from "@haft/fs-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { type Located, locate } from "../allowed-directories.ts"
import { asksForControlFiles } from "../asks.ts"
import { mcpFilesystem } from "../dialect.ts"
import { fitToLines } from "../fit-to-lines.ts"
import { inSystemWords, worded } from "../system-errors.ts"

const input = z.strictObject({
  path: z.string().describe("File, absolute or relative to the first allowed directory"),
  edits: z
    .array(
      z.strictObject({
        oldText: z.string().describe("Text to find; it must stand at exactly one place"),
        newText: z.string().describe("Text to put there")
      })
    )
    .describe("Made in order, each on the result of the one before; all of them or none"),
  dryRun: z.boolean().default(false).describe("Answer with the diff, and change nothing")
})

type Call = z.output<typeof input>

const operation = planOnce((plan, call: Call) =>
  Effect.flatMap(locate(call.path), (located) =>
    inSystemWords({ call: "open", path: located.absolute })(planCall(plan, call, located))
  )
)

export const editFile = mcpFilesystem.tool({
  name: "edit_file",
  operation: "edit-text",
  description:
    "Replace texts in a file, and answer with a diff. Where a text does not stand there exactly, spacing is forgiven " +
    "if that is unique. A text that stands at several places is refused.",
  input,
  output: z.strictObject({ content: z.string() }),
  risk: "dangerous",
  asks: (facts, { dryRun }) => !dryRun && asksForControlFiles(facts),
  timeout: "60 seconds",
  touches: ({ path, dryRun }) =>
    Effect.map(locate(path), (located) => (dryRun ? { reads: [located.path] } : { writes: [located.path] })),
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: Effect.fnUntraced(function* (call) {
    const { absolute } = yield* locate(call.path)
    const { result } = yield* call.dryRun ? operation.preview(call) : operation.commit(call)
    return { content: fenced(yield* patchOf(singleLine(absolute), result)) }
  }),
  render: ({ content }) => content
})

/** Plans one edit after the other, so that the one that fails can be named. */
const planCall = Effect.fnUntraced(function* (plan: ChangePlan, { edits }: Call, { path }: Located) {
  let whole: Pick<EditedText, "before" | "after"> = yield* planEdits(plan, path, [])
  for (const { oldText, newText } of edits) {
    if (oldText === "") return yield* toolError("invalid_params", "parameter 'edits': an oldText is empty")
    const edit = { find: oldText, replace: newText }
    const { after } = yield* planEdits(plan, path, [edit], { loosely: true }).pipe(
      Effect.catchIf(
        ({ code }) => code === "match_not_found",
        (error) => {
          const fitted = fitToLines(whole.after.text, edit)
          return fitted === undefined ? Effect.fail(error) : planEdits(plan, path, [fitted])
        }
      ),
      Effect.mapError((error) => inServerWords(error, oldText))
    )
    whole = { before: whole.before, after }
  }
  return whole
})

const inServerWords = <Code extends ToolError["code"]>(error: ToolError<Code>, oldText: string): ToolError<Code> =>
  error.code === "match_not_found" ? worded(error.code, `Could not find exact match for edit:\n${oldText}`) : error

const contextLines = 4
const rule = "=".repeat(67)

const patchOf = (path: string, { before, after }: Pick<EditedText, "before" | "after">): Effect.Effect<string> =>
  Effect.map(diffHunks(before.encode(), after.encode(), { context: contextLines }), (hunks = []) =>
    [`Index: ${path}`, rule, `--- ${path}\toriginal`, `+++ ${path}\tmodified`, ...hunks.flatMap(hunkLines), ""].join(
      "\n"
    )
  )

const hunkLines = ({ oldStart, oldLines, newStart, newLines, lines }: DiffHunk): ReadonlyArray<string> => [
  `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
  ...lines.map((line) => line.replace(/\r$/, ""))
]

/** A code block whose fence is longer than any in the text. */
const fenced = (patch: string): string => {
  let fence = "```"
  while (patch.includes(fence)) fence += "`"
  return `${fence}diff\n${patch}${fence}\n\n`
}
