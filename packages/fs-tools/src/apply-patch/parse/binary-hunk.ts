import { Buffer } from "node:buffer"

import { TimeSlices } from "@haft/core"
import * as Effect from "effect/Effect"

import type { BinaryHunk } from "../patch.ts"
import { type ParseError, refuseLine } from "./line-error.ts"

/** The object ids of a file before and after a change, from git's `index` line. */
export interface ObjectIds {
  readonly before: string
  readonly after: string
}

export interface ReadBinaryHunk {
  readonly hunk: BinaryHunk
  /** Index of the line after it. */
  readonly next: number
}

/** Larger files are not patched: a few bytes of compressed data can stand for any amount. */
const maximumBytes = 64 * 1024 * 1024

/**
 * Reads what follows `GIT binary patch`: the new content, or the steps that make it of the old one, and then the same
 * the other way round, which is skipped.
 */
export const readBinaryHunk = Effect.fnUntraced(function* (
  lines: ReadonlyArray<string>,
  start: number,
  ids: ObjectIds | undefined
): Effect.fn.Return<ReadBinaryHunk, ParseError> {
  if (ids === undefined || !isFullId(ids.before) || !isFullId(ids.after)) {
    return yield* refuseLine(start, "a binary patch needs a line with the full 'index'; make it by `git diff --binary`")
  }
  const forward = yield* readData(lines, start + 1)
  const reverse = methodAndSize.test(lines[forward.next] ?? "") ? yield* readData(lines, forward.next) : forward
  const { method, size, deflated } = forward
  return { hunk: { method, size, deflated, ...ids, patchLine: start + 1 }, next: reverse.next }
})

const methodAndSize = /^(literal|delta) (\d{1,15})\r?$/

const isFullId = (id: string): boolean => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(id)

const readData = Effect.fnUntraced(function* (lines: ReadonlyArray<string>, start: number) {
  const [, method = "", digits] = methodAndSize.exec(lines[start] ?? "") ?? []
  if (method !== "literal" && method !== "delta") {
    return yield* refuseLine(start, "a binary patch goes on with 'literal' or 'delta' and a number of bytes")
  }
  const size = Number(digits)
  if (size > maximumBytes) return yield* refuseLine(start, `a binary patch may hold ${maximumBytes} bytes at most`)
  const pieces: Array<Uint8Array> = []
  const slices = new TimeSlices()
  let next = start + 1
  for (; next < lines.length && (lines[next] ?? "").trim() !== ""; next++) {
    if (slices.isOver()) yield* slices.pause
    const piece = decodeLine((lines[next] ?? "").replace(/\r$/, ""))
    if (piece === undefined) return yield* refuseLine(next, "this is not a line of a binary patch")
    pieces.push(piece)
  }
  return { method, size, deflated: Buffer.concat(pieces), next: next + 1 } as const
})

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
const valueOf = new Map(alphabet.split("").map((character, value) => [character, value]))

/** The bytes of one line: a letter says how many, then five characters of base 85 stand for four of them. */
const decodeLine = (line: string): Uint8Array | undefined => {
  const length = lengthOf(line[0] ?? "")
  const groups = Math.ceil(length / 4)
  if (length === 0 || line.length !== 1 + groups * 5) return undefined
  const bytes = Buffer.alloc(groups * 4)
  for (let group = 0; group < groups; group++) {
    let value = 0
    for (const character of line.slice(1 + group * 5, 6 + group * 5)) {
      value = value * 85 + (valueOf.get(character) ?? Number.NaN)
    }
    if (!(value < 2 ** 32)) return undefined
    bytes.writeUInt32BE(value, group * 4)
  }
  return bytes.subarray(0, length)
}

/** `A` to `Z` are 1 to 26, `a` to `z` are 27 to 52. */
const lengthOf = (letter: string): number => {
  if (letter >= "A" && letter <= "Z") return letter.charCodeAt(0) - 64
  return letter >= "a" && letter <= "z" ? letter.charCodeAt(0) - 70 : 0
}
