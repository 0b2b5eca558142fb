import { Buffer } from "node:buffer"
import { createHash } from "node:crypto"

import { type Content, type ToolError, toolError } from "@haft/core"
import * as Effect from "effect/Effect"

import type { BinaryHunk } from "./patch.ts"

export type BinaryError = ToolError<"patch_parse_error" | "patch_hunk_failed" | "already_applied">

/**
 * The content that a binary hunk makes of a file's. Both are told by git's object ids: a binary hunk has no context, so
 * it fits the one version it was made from.
 */
export const applyBinary = Effect.fnUntraced(function* (
  path: string,
  content: Content,
  hunk: BinaryHunk
): Effect.fn.Return<Uint8Array, BinaryError> {
  const before = bytesOf(content)
  yield* requireVersion(path, before, hunk)
  const data = yield* inflated(path, hunk)
  const after = hunk.method === "literal" ? data : applyDelta(before, data)
  if (after === undefined || objectId(after, hunk.after) !== hunk.after) return yield* damaged(path, hunk)
  return after
})

/** Fails unless a file is the version that a hunk was made from. */
export const requireVersion = (
  path: string,
  content: Content,
  { before, after, patchLine }: BinaryHunk
): Effect.Effect<void, BinaryError> => {
  const bytes = bytesOf(content)
  const found = objectId(bytes, before)
  if (found === before || (bytes.length === 0 && isNone(before))) return Effect.void
  if (found === after) {
    return toolError("already_applied", `${path} has the content of the binary patch already; nothing was changed`, {
      suggestion: "Leave the file out of the patch.",
      details: { path }
    })
  }
  return toolError(
    "patch_hunk_failed",
    `${path} is not the version that the binary patch at line ${patchLine} was made from: its object id is ${found}, ` +
      `the patch expects ${before}; nothing was changed`,
    {
      suggestion: "Make the patch from the file as it is now, by `git diff --binary`.",
      details: { path, line: patchLine }
    }
  )
}

const bytesOf = (content: Content): Uint8Array => (content instanceof Uint8Array ? content : Buffer.concat(content))

/** The id of a file that is not there. */
const isNone = (id: string): boolean => /^0+$/.test(id)

/** The id that git gives to content, by the hash that another id was made with. */
const objectId = (content: Uint8Array, like: string): string =>
  createHash(like.length === 64 ? "sha256" : "sha1")
    .update(`blob ${content.length}\0`)
    .update(content)
    .digest("hex")

/** Inflates on another thread, up to the size that the patch states and no further. */
const inflated = (path: string, hunk: BinaryHunk): Effect.Effect<Uint8Array, BinaryError> =>
  // Loaded here, because it is slow to load and few patches are binary.
  Effect.flatMap(
    Effect.promise(() => import("node:zlib")),
    ({ inflate }) =>
      Effect.callback<Uint8Array, BinaryError>((resume) => {
        inflate(hunk.deflated, { maxOutputLength: Math.max(1, hunk.size) }, (error, data) => {
          resume(error === null && data.length === hunk.size ? Effect.succeed(data) : damaged(path, hunk))
        })
      })
  )

const damaged = (path: string, { patchLine }: BinaryHunk): Effect.Effect<never, BinaryError> =>
  toolError(
    "patch_parse_error",
    `the binary patch of ${path} at line ${patchLine} is damaged: it does not give the file that its index line names; ` +
      "nothing was changed",
    { suggestion: "Send the patch exactly as `git diff --binary` prints it.", details: { path, line: patchLine } }
  )

/** Builds content of stretches of the old one and of new bytes; undefined where the steps do not fit. */
const applyDelta = (before: Uint8Array, delta: Uint8Array): Uint8Array | undefined => {
  let at = 0
  const readSize = (): number => {
    let [size, unit] = [0, 1]
    for (;;) {
      const byte = delta[at++] ?? Number.NaN
      size += (byte & 0x7f) * unit
      unit *= 128
      if ((byte & 0x80) === 0) return Number.isNaN(byte) ? Number.NaN : size
    }
  }
  const readBytes = (flags: number, count: number): number => {
    let value = 0
    for (let index = 0; index < count; index++) {
      if ((flags & (1 << index)) !== 0) value += (delta[at++] ?? Number.NaN) * 2 ** (8 * index)
    }
    return value
  }
  const [oldSize, newSize] = [readSize(), readSize()]
  if (oldSize !== before.length || !(newSize <= maximumResult)) return undefined
  const after = Buffer.alloc(newSize)
  let written = 0
  while (at < delta.length) {
    const step = delta[at++] ?? 0
    const isCopy = (step & 0x80) !== 0
    const start = isCopy ? readBytes(step, 4) : at
    const length = isCopy ? readBytes(step >> 4, 3) || 0x10000 : step
    const source = isCopy ? before : delta
    if (!isCopy) at += length
    if (length === 0 || !(start + length <= source.length) || written + length > newSize) return undefined
    after.set(source.subarray(start, start + length), written)
    written += length
  }
  return written === newSize ? after : undefined
}

const maximumResult = 64 * 1024 * 1024
