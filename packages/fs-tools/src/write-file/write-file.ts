import { Buffer } from "node:buffer"

import { type ChangePlan, type PlanError, type ToolError, toolError } from "@haft/core"
import * as Effect from "effect/Effect"

import { textOf } from "../planned-text.ts"
import type { TextFile } from "../text-file.ts"

export interface WriteFileOptions {
  /** Make the directories on the way. */
  readonly createDirectories: boolean
  /** Refuse when something is there already. */
  readonly mustBeNew?: boolean
  /** The state that the file must be in. */
  readonly base?: string | undefined
}

export interface WrittenFile {
  readonly path: string
  readonly size: number
  readonly change: "created" | "modified" | "unchanged"
  readonly fingerprint: string
  /** The text it had, where it was text and not too large to compare. */
  readonly before: TextFile | undefined
}

/** Files beyond this size are written, but not compared with what they were. */
const comparedBytes = 10 * 1024 * 1024

/** Plans that a file is created or gets new content. */
export const planWrite = Effect.fnUntraced(function* (
  plan: ChangePlan,
  given: string,
  content: Uint8Array,
  { createDirectories, mustBeNew, base }: WriteFileOptions
): Effect.fn.Return<WrittenFile, PlanError> {
  const found = yield* plan.info(given)
  // The workspace itself is no file that exists already; the plan says what it is.
  if (mustBeNew === true && found !== undefined && found.path !== ".") return yield* alreadyExists(given)
  const expected = mustBeNew === true && found === undefined ? "absent" : base
  const before = found?.kind === "file" && found.size <= comparedBytes ? yield* textBefore(plan, given) : undefined
  const planned = plan.changes.length
  yield* plan.write(given, content, { createDirectories, ...(expected !== undefined && { base: expected }) })
  const { path, fingerprint } = yield* plan.file(given)
  const isChanged = plan.changes.length > planned
  const change = !isChanged ? "unchanged" : found === undefined ? "created" : "modified"
  return { path, size: content.length, change, fingerprint, before }
})

/** The bytes that `content` spells, or what is wrong with it. */
export const contentBytes = (
  content: string,
  encoding: "utf-8" | "base64" = "utf-8"
): Effect.Effect<Uint8Array, ToolError<"invalid_params">> => {
  if (encoding === "utf-8") {
    return content.isWellFormed()
      ? Effect.succeed(Buffer.from(content, "utf8"))
      : toolError("invalid_params", "parameter 'content': half a surrogate pair can't be written as UTF-8")
  }
  const isBase64 = content.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(content)
  return isBase64
    ? Effect.succeed(Buffer.from(content, "base64"))
    : toolError("invalid_params", "parameter 'content': this is not base64", {
        suggestion: "Send standard base64 with its padding, without line breaks."
      })
}

const alreadyExists = (path: string): Effect.Effect<never, ToolError<"already_exists">> =>
  toolError("already_exists", `${path} already exists; nothing was changed`, {
    suggestion: "Change the existing file with an edit, or choose another name.",
    details: { path }
  })

const textBefore = (plan: ChangePlan, path: string): Effect.Effect<TextFile | undefined> =>
  plan.file(path, { maxBytes: comparedBytes }).pipe(
    Effect.map(({ content }) => textOf(content)),
    Effect.orElseSucceed(() => undefined)
  )
