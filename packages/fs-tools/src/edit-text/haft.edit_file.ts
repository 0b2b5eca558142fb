import { type ChangePlan, singleLine } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { linkWarnings } from "../hard-links.ts"
import { changedRanges } from "../matching/changed-ranges.ts"
import { omissionWarnings } from "../matching/omissions.ts"
import { snippetOf } from "../matching/snippet.ts"
import { planOnce } from "../plan-once.ts"
import { textIn } from "../planned-text.ts"
import { planAnchoredEdits } from "./anchored-edits.ts"
import { type MadeEdit, planEdits, requireBase } from "./edit-text.ts"
import { strictPasses } from "./find-text.ts"

const input = z.strictObject({
  path: z.string().describe("File, relative to the workspace"),
  edits: z
    .array(
      z
        .strictObject({
          find: z.string().min(1).optional().describe("Text to find; must be unique"),
          anchor: z.string().max(100).optional().describe("Instead of find: first line, by its anchor"),
          end_anchor: z.string().max(100).optional().describe("Last line, included"),
          replace: z.string().describe("New text"),
          all: z.boolean().default(false).describe("Replace all occurrences")
        })
        .refine(({ find, anchor }) => (find === undefined) !== (anchor === undefined), {
          path: ["find"],
          message: "either find or anchor is required"
        })
        .refine(({ anchor, end_anchor, all }) => (anchor !== undefined ? !all : end_anchor === undefined), {
          path: ["anchor"],
          message: "end_anchor needs an anchor, and all needs find"
        })
    )
    .min(1)
    .max(1000)
    .describe("Made in order; all or none"),
  exact: z
    .boolean()
    .default(false)
    .describe("Allow no differences in trailing spaces, indentation or look-alike characters"),
  expected_fingerprint: z.string().optional().describe("Refuse if the file changed since read_file reported this")
})

type Call = z.output<typeof input>

// Anchors mean the file as it was read, so their lines are replaced before text is looked for.
const planCall = Effect.fnUntraced(function* (plan: ChangePlan, call: Call) {
  const { path, exact, expected_fingerprint: base } = call
  const before = yield* textIn(plan, path)
  if (base !== undefined) yield* requireBase(plan, path, base)
  const byAnchor = call.edits.flatMap(({ anchor, end_anchor: endAnchor, replace }) =>
    anchor === undefined ? [] : [{ anchor, endAnchor, replace }]
  )
  const byText = call.edits.flatMap(({ find, replace, all }) => (find === undefined ? [] : [{ find, replace, all }]))
  const lines =
    byAnchor.length === 0
      ? []
      : (yield* planAnchoredEdits(plan, path, byAnchor, { isUnchanged: base !== undefined })).lines
  const { after, edits } = yield* planEdits(plan, path, byText, { loosely: !exact })
  const anchored = lines.values()
  const found = edits.values()
  const made = call.edits.map(({ find }): MadeEdit | AnchoredLines =>
    find === undefined
      ? { pass: "anchor", replaced: 1, line: anchored.next().value ?? 0 }
      : (found.next().value ?? { pass: "exact", replaced: 0, line: 0 })
  )
  return { before, after, edits: made }
})

/** Lines that were replaced by their anchors. */
interface AnchoredLines extends Pick<MadeEdit, "replaced" | "line"> {
  readonly pass: "anchor"
}

const operation = planOnce(planCall)

export const haftEditFile = haft.tool({
  name: "edit_file",
  operation: "edit-text",
  description: "Replace text in a file. A loose match is reported, and only the text found is replaced.",
  input,
  output: z.object({
    path: z.string(),
    changed: z.boolean(),
    fingerprint: z.string().optional(),
    edits: z.array(z.object({ matched: z.string(), replaced: z.number(), line: z.number() })),
    lines: z.array(z.object({ start: z.number(), end: z.number() })),
    snippet: z.string(),
    warnings: z.array(z.string())
  }),
  examples: [{ path: "src/app.ts", edits: [{ find: "const port = 80", replace: "const port = 8080" }] }],
  risk: "dangerous",
  timeout: "60 seconds",
  touches: ({ path }) => ({ writes: [path] }),
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: Effect.fnUntraced(function* (call) {
    const { path, edits } = call
    const { changes, result } = yield* operation.commit(call)
    const { before, after, edits: made } = result
    const [change] = changes
    const lines = changedRanges(before, after)
    return {
      path: change?.path ?? path,
      changed: change !== undefined,
      ...(change !== undefined && { fingerprint: change.after }),
      edits: made.map(({ pass, replaced, line }) => ({ matched: pass, replaced, line })),
      lines: [...lines],
      snippet: snippetOf(after, lines),
      warnings: [
        ...linkWarnings(changes),
        ...looseMatches(made),
        ...omissionWarnings(edits.map(({ replace }) => replace).join("\n"), before.text)
      ]
    }
  }),
  render: ({ path, changed, snippet, warnings }) =>
    [
      changed ? `Edited ${singleLine(path)}` : `${singleLine(path)} is already as the edits would make it`,
      ...warnings,
      snippet
    ].join("\n")
})

const looseMatches = (edits: ReadonlyArray<MadeEdit | AnchoredLines>): ReadonlyArray<string> =>
  edits.flatMap(({ pass, line }) =>
    pass === "anchor" || strictPasses.some((strict) => strict === pass) ? [] : [`line ${line}: ${describePass(pass)}`]
  )

const describePass = (pass: MadeEdit["pass"]): string => {
  if (pass === "line_numbers") return "line numbers pasted in from a reader were left out"
  if (pass === "html_escapes") return "HTML escapes were read as the characters they stand for"
  return `matched by ${pass.replaceAll("_", " ")}, not exactly as given`
}
