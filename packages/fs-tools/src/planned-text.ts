import {
  type ChangePlan,
  type Content,
  type LookError,
  type PlanError,
  TimeSlices,
  type ToolError,
  toolError
} from "@haft/core"
import * as Effect from "effect/Effect"

import { type TextReplacement, TextFile } from "./text-file.ts"

/** Larger files are not edited: their text would not fit into one string. */
const maximumBytes = 400 * 1024 * 1024

export type TextError = PlanError | ToolError<"binary_file">

/** The text of content that was decoded or encoded here, so that a diff need not decode it again. */
const texts = new WeakMap<Content, TextFile>()

/** The text that content spells; undefined for bytes that are no text. */
export const textOf = (content: Content): TextFile | undefined => {
  const known = texts.get(content)
  if (known !== undefined) return known
  const text = TextFile.decode(content instanceof Uint8Array ? content : Buffer.concat(content))
  if (text !== undefined) texts.set(content, text)
  return text
}

/** The text that a file of a plan has by now. */
export const textIn = (plan: ChangePlan, path: string): Effect.Effect<TextFile, TextError> =>
  Effect.flatMap(plan.file(path, { maxBytes: maximumBytes }), ({ content }) => {
    const text = textOf(content)
    return text === undefined
      ? toolError("binary_file", `${path} is not text; nothing was changed`, {
          suggestion: "Write the file as a whole, or use a command that understands its format.",
          details: { path }
        })
      : Effect.succeed(text)
  })

/** Plans a file with a text. */
const putText = (
  plan: ChangePlan,
  path: string,
  text: TextFile,
  options: { readonly mode?: number } = {}
): Effect.Effect<void, PlanError> => {
  const content = text.encode()
  texts.set(content, text)
  return plan.write(path, content, { createDirectories: true, ...options })
}

/** Plans a file where none is. */
export const addText = (plan: ChangePlan, path: string, text: TextFile): Effect.Effect<void, PlanError> =>
  Effect.andThen(requireNothing(plan, path), putText(plan, path, text))

/** Plans that stretches of a file's text are replaced. A Latin-1 file takes only characters that Latin-1 has. */
export const replaceText = Effect.fnUntraced(function* (
  plan: ChangePlan,
  path: string,
  replacements: ReadonlyArray<TextReplacement>
): Effect.fn.Return<TextFile, TextError> {
  const text = yield* textIn(plan, path)
  const slices = new TimeSlices()
  for (const replacement of replacements) {
    if (slices.isOver()) yield* slices.pause
    const character = text.firstUnencodable(replacement.text)
    if (character === undefined) continue
    return yield* toolError(
      "write_failed",
      `${path} is ${text.encoding} text, which has no bytes for ${JSON.stringify(character)}; nothing was changed`,
      { suggestion: "Use other characters, or write the whole file anew as UTF-8.", details: { path } }
    )
  }
  // A file whose text stays is left alone.
  if (replacements.every(({ start, end, text: now }) => text.text.slice(start, end) === now)) return text
  yield* slices.between(replacements.length)
  const edited = text.replace(replacements)
  yield* slices.between(replacements.length)
  yield* putText(plan, path, edited)
  return edited
})

export const requireNothing = (
  plan: ChangePlan,
  path: string
): Effect.Effect<void, LookError | ToolError<"already_exists">> =>
  Effect.flatMap(plan.info(path), (found) =>
    found === undefined
      ? Effect.void
      : toolError("already_exists", `${path} already exists; nothing was changed`, {
          suggestion: "Update it instead, or delete it first.",
          details: { path }
        })
  )
