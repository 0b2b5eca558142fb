import { type ChangePlan, toolError, type ToolError } from "@haft/core"
import * as Effect from "effect/Effect"

import { replaceText, type TextError, textIn } from "../planned-text.ts"
import type { TextFile } from "../text-file.ts"
import { endingAt } from "./edit-text.ts"

/** Lines to put into a file. */
export interface TextInsertion {
  /** The line after which they come, 0 for the beginning. Behind a final newline there is one more line, an empty one. */
  readonly line: number
  /** Without a newline at the end it gets one, where lines follow. */
  readonly text: string
}

export type InsertError = TextError | ToolError<"invalid_range">

/** Plans that lines are put into a file. They end as the lines before them do. */
export const planInsert = Effect.fnUntraced(function* (
  plan: ChangePlan,
  path: string,
  { line, text }: TextInsertion
): Effect.fn.Return<{ readonly before: TextFile; readonly after: TextFile }, InsertError> {
  const before = yield* textIn(plan, path)
  const hasEnd = before.lineCount === 0 || before.terminator(before.lineCount - 1) !== ""
  const lines = before.lineCount + (hasEnd ? 1 : 0)
  if (!Number.isInteger(line) || line < 0 || line > lines) {
    return yield* toolError("invalid_range", `${path} has ${lines} lines, so none can be put after line ${line}`, {
      suggestion: `Choose a line from 0 to ${lines}.`,
      details: { path, lines }
    })
  }
  const ending = endingAt(before, before.lineStart(Math.max(0, line - 1)))
  const inserted = text.replaceAll("\r\n", "\n").replace(/\n$/, "").split("\n").join(ending)
  const start = before.lineStart(line)
  const replacement = line < lines ? `${inserted}${ending}` : `${ending}${inserted}`
  return { before, after: yield* replaceText(plan, path, [{ start, end: start, text: replacement }]) }
})
