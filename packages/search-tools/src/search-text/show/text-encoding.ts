import { isUtf8 } from "node:buffer"

import { type ReadError, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

/**
 * How the bytes of a file are read, and what the positions of its matches count: `latin1` those of its text in UTF-8,
 * `latin1-bytes` its own. UTF-16 is known by its byte order mark and counts as `utf-8`.
 */
export type AssumedEncoding = "utf-8" | "latin1" | "latin1-bytes"

/** UTF-16 by its byte order mark. */
export const utf16Of = (bytes: Uint8Array): "utf-16le" | "utf-16be" | undefined => {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le"
  return bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : undefined
}

/** Encoding of a text: what is neither UTF-8 nor UTF-16 is Latin-1, as it is for `read_file`. */
export const readingOf = (bytes: Uint8Array): AssumedEncoding =>
  utf16Of(bytes) !== undefined || isUtf8(bytes) ? "utf-8" : "latin1-bytes"

/** Encoding of a file that is too large for the memory. */
export const readingOfLarge = Effect.fnUntraced(function* (
  path: string
): Effect.fn.Return<AssumedEncoding, ReadError, Workspace> {
  const workspace = yield* Workspace
  const decoder = new TextDecoder("utf-8", { fatal: true })
  const isBroken = (...input: Parameters<typeof decoder.decode>): boolean => {
    try {
      decoder.decode(...input)
      return false
    } catch {
      return true
    }
  }
  let isFirst = true
  let reading: AssumedEncoding | undefined
  yield* workspace.scan(path, (chunk) => {
    if (isFirst && utf16Of(chunk) !== undefined) reading = "utf-8"
    else if (isBroken(chunk, { stream: true })) reading = "latin1-bytes"
    isFirst = false
    return reading === undefined
  })
  return reading ?? (isBroken() ? "latin1-bytes" : "utf-8")
})
