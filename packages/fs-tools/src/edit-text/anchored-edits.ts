import { type ChangePlan, toolError, type ToolError } from "@haft/core"
import * as Effect from "effect/Effect"

import { replaceText, type TextError, textIn } from "../planned-text.ts"
import type { TextFile, TextReplacement } from "../text-file.ts"
import { endingAt } from "./edit-text.ts"
import { type AnchoredLine, AnchorIndex, type AnchorProblem } from "./line-anchors.ts"

/** Lines to replace, from one anchor to another, both included. */
export interface AnchoredEdit {
  readonly anchor: string
  /** Anchor of the last line; `anchor` when absent. */
  readonly endAnchor?: string | undefined
  /** New lines; none for an empty text. */
  readonly replace: string
}

export type AnchorError =
  | TextError
  | ToolError<"match_not_found" | "match_not_unique" | "invalid_params" | "invalid_range">

export interface AnchoredResult {
  readonly before: TextFile
  readonly after: TextFile
  /** Line of each edit before any was made, from 1. */
  readonly lines: ReadonlyArray<number>
}

/** Plans edits of lines that are named by anchors. All of them mean the file as it is before the first. */
export const planAnchoredEdits = Effect.fnUntraced(function* (
  plan: ChangePlan,
  path: string,
  edits: ReadonlyArray<AnchoredEdit>,
  { isUnchanged }: { readonly isUnchanged: boolean }
): Effect.fn.Return<AnchoredResult, AnchorError> {
  const before = yield* textIn(plan, path)
  const index = new AnchorIndex(before.text)
  const lineAt = (anchor: string): Effect.Effect<AnchoredLine, AnchorError> => {
    const found = index.find(anchor, isUnchanged)
    return typeof found === "string" ? refuse(path, anchor, found) : Effect.succeed(found)
  }
  const replaced: Array<TextReplacement & { readonly line: number }> = []
  for (const { anchor, endAnchor = anchor, replace } of edits) {
    const first = yield* lineAt(anchor)
    const last = yield* lineAt(endAnchor)
    if (last.index < first.index) {
      return yield* toolError("invalid_range", `${endAnchor} stands before ${anchor} in ${path}; nothing was changed`, {
        suggestion: "Swap anchor and end_anchor.",
        details: { path }
      })
    }
    const text = linesFor(before, first, last, replace)
    replaced.push({ start: first.start, end: last.end, text, line: first.index + 1 })
  }
  const ordered = replaced.toSorted((one, other) => one.start - other.start)
  const overlap = ordered.find(({ start }, at) => at > 0 && start < (ordered[at - 1]?.end ?? 0))
  if (overlap !== undefined) {
    return yield* toolError(
      "invalid_params",
      `two edits of ${path} replace line ${overlap.line}; nothing was changed`,
      {
        suggestion: "Make one edit of them.",
        details: { path, line: overlap.line }
      }
    )
  }
  return { before, after: yield* replaceText(plan, path, ordered), lines: replaced.map(({ line }) => line) }
})

/** New lines, ended as those that they replace. The last line of a file keeps having no newline if it has none. */
const linesFor = (text: TextFile, first: AnchoredLine, last: AnchoredLine, replace: string): string => {
  if (replace === "") return ""
  const ending = endingAt(text, first.start)
  const body = replace.replaceAll("\r\n", "\n").replace(/\n$/, "").split("\n").join(ending)
  return text.text[last.end - 1] === "\n" ? body + ending : body
}

const refuse = (path: string, anchor: string, problem: AnchorProblem): Effect.Effect<never, AnchorError> => {
  if (problem === "malformed") {
    return toolError("invalid_params", `'${anchor}' is not an anchor; nothing was changed`, {
      suggestion: "Copy anchors such as 12:k3x9a from read_file with anchors.",
      details: { path, anchor }
    })
  }
  return problem === "missing"
    ? toolError("match_not_found", `${anchor} fits no line of ${path} any more; nothing was changed`, {
        suggestion: "Read the file again with anchors.",
        details: { path, anchor }
      })
    : toolError("match_not_unique", `${anchor} fits several lines of ${path}; nothing was changed`, {
        suggestion: "Pass expected_fingerprint of that reading, or find the text itself.",
        details: { path, anchor }
      })
}
