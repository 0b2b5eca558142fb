import { type ChangePlan, toolError, singleLine } from "@haft/core"
import { cliagent } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { planOnce } from "../plan-once.ts"
import { replaceText, textIn } from "../planned-text.ts"
import { replacementFor } from "./edit-text.ts"
import { findText } from "./find-text.ts"

const input = z.strictObject({
  path: z.string().describe("File to modify, relative to the working directory"),
  old_string: z.string().min(1).describe("Exact text to find; the first place is replaced"),
  new_string: z.string().describe("Text to put there")
})

export const cliagentReplaceStringInFile = cliagent.tool({
  name: "replace_string_in_file",
  operation: "edit-text",
  description: "Replace the first occurrence of a text in a file with another.",
  input,
  output: z.object({
    output: z.string(),
    files_affected: z.array(z.string()),
    metadata: z.object({
      occurrences_found: z.number(),
      occurrences_replaced: z.number(),
      lines_changed: z.array(z.number())
    })
  }),
  risk: "dangerous",
  timeout: "60 seconds",
  touches: ({ path }) => ({ writes: [path] }),
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: Effect.fnUntraced(function* (call) {
    const { changes, result } = yield* operation.commit(call)
    const { found, line } = result
    const [change] = changes
    const lines = call.new_string.replace(/\n$/, "").split("\n")
    const replaced = `Replaced 1 occurrence in ${singleLine(call.path)}`
    const warning = `Warning: Found ${found} occurrences, replaced only the first at line ${line}`
    return {
      output: found > 1 ? `${replaced}\n${warning}` : replaced,
      files_affected: change === undefined ? [] : [change.path],
      metadata: {
        occurrences_found: found,
        occurrences_replaced: 1,
        lines_changed: lines.map((_, index) => line + index)
      }
    }
  }),
  render: ({ output }) => output,
  wording: {
    match_not_found: (_error, { old_string }) => `String '${shortened(old_string)}' not found in file`,
    is_directory: (_error, { path }) => `Path '${path}' is a directory, not a file`,
    permission_denied: (_error, { path }) => `Cannot modify file '${path}' - permission denied`
  }
})

const shownLength = 1000

/** Whoever sent a long text knows it; sent back, it would only fill the conversation. */
const shortened = (text: string): string =>
  text.length > shownLength ? `${text.slice(0, shownLength - 1).toWellFormed()}…` : text

/** The contract replaces the first of several, so the place is chosen here and not by the engine. */
const planReplacement = Effect.fnUntraced(function* (plan: ChangePlan, call: z.output<typeof input>) {
  const { path, old_string, new_string } = call
  const text = yield* textIn(plan, path)
  const find = (pass: "exact" | "line_endings") => findText(text, old_string, pass, { overlapping: false, keep: 1 })
  const exact = find("exact")
  const { places, count } = exact.count > 0 ? exact : find("line_endings")
  const [first] = places
  if (first === undefined) {
    return yield* toolError("match_not_found", `the text is not in ${path}`, {
      suggestion: "Read the file and copy the text exactly, spaces and line breaks included.",
      details: { path }
    })
  }
  const replacement = replacementFor(text, first, { find: old_string, replace: new_string })
  yield* replaceText(plan, path, replacement === undefined ? [] : [replacement])
  return { found: count, line: text.lineAt(first.start) + 1 }
})

const operation = planOnce(planReplacement)
