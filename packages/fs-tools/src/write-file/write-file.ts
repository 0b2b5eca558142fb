import { Buffer } from "node:buffer"

import { type Change, type CommitError, type ToolError, toolError, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

import { TextFile } from "../text-file.ts"
import { unifiedDiff } from "../unified-diff.ts"

export interface WriteOptions {
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

/** Creates a file or gives it new content. */
export const writeFile = Effect.fnUntraced(function* (
  given: string,
  content: Uint8Array,
  options: WriteOptions
): Effect.fn.Return<WrittenFile, CommitError, Workspace> {
  const workspace = yield* Workspace
  const path = yield* workspace.contain(given)
  const change = yield* changeTo(given, content, options)
  const before = yield* textBefore(given)
  const changes = yield* workspace.commit([change])
  const made = changes.find((one) => one.path === path)
  return {
    path,
    size: content.length,
    change: made === undefined ? "unchanged" : made.kind === "created" ? "created" : "modified",
    fingerprint: made?.after ?? (yield* workspace.fingerprint(given)),
    before
  }
})

const changeTo = Effect.fnUntraced(function* (
  given: string,
  content: Uint8Array,
  { createDirectories, mustBeNew, base }: WriteOptions
): Effect.fn.Return<Change, CommitError, Workspace> {
  const workspace = yield* Workspace
  // The workspace itself is no file that exists already; the commit says what it is.
  const isNew = mustBeNew === true && (yield* workspace.contain(given)) !== "."
  const expected = isNew ? yield* requireNothing(given) : base
  return { kind: "write", path: given, content, createDirectories, ...(expected !== undefined && { base: expected }) }
})

/** What writing would change, as a unified diff. Fails where writing would. */
export const previewWrite = Effect.fnUntraced(function* (
  given: string,
  content: Uint8Array,
  options: WriteOptions
): Effect.fn.Return<string, CommitError, Workspace> {
  const workspace = yield* Workspace
  const path = yield* workspace.contain(given)
  const changes = yield* workspace.previewCommit([yield* changeTo(given, content, options)])
  const exists = !changes.some((change) => change.path === path && change.kind === "created")
  const before = yield* textBefore(given)
  const after = TextFile.decode(content)
  if (after === undefined || (exists && before === undefined)) return `Binary file ${path}: ${content.length} bytes\n`
  return unifiedDiff({ oldPath: exists ? path : undefined, newPath: path, before, after })
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

const requireNothing = Effect.fnUntraced(function* (path: string) {
  const workspace = yield* Workspace
  if ((yield* workspace.fingerprint(path)) === "absent") return "absent"
  return yield* toolError("already_exists", `${path} already exists; nothing was changed`, {
    suggestion: "Change the existing file with an edit, or choose another name.",
    details: { path }
  })
})

const textBefore = Effect.fnUntraced(function* (path: string) {
  const workspace = yield* Workspace
  return yield* workspace.read(path, { maxBytes: comparedBytes }).pipe(
    Effect.map((bytes) => TextFile.decode(bytes)),
    Effect.orElseSucceed(() => undefined)
  )
})
