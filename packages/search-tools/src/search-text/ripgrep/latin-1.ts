import type { Processes, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

import { batchesOf } from "./batches.ts"
import { type CountedFile, countMatches, type CountOptions, type OtherSearch } from "./count-matches.ts"
import type { Expression } from "./expression.ts"
import type { Ripgrep, RipgrepError } from "./ripgrep.ts"

/** Files that are read as Latin-1, because they are neither UTF-8 nor binary. */
export interface Latin1Files {
  readonly paths: ReadonlySet<string>
  /** Those of them that match. */
  readonly files: ReadonlyArray<CountedFile>
  readonly timedOut: boolean
}

const none: Latin1Files = { paths: new Set(), files: [], timedOut: false }

type Pass = Omit<CountOptions, "keep" | "countFiles" | "timeoutMs">

/**
 * Searches the files that are read as Latin-1: ripgrep takes their bytes for broken UTF-8, which nothing but ASCII
 * matches. An expression that means the same in both encodings needs no such pass.
 */
export const searchLatin1 = Effect.fnUntraced(function* (
  pass: Pass,
  until: number
): Effect.fn.Return<Latin1Files, RipgrepError, Ripgrep | Processes | Workspace> {
  const search = latin1SearchFor(pass.expression)
  if (search === undefined) return none
  let timedOut = false
  const count = Effect.fnUntraced(function* (options: Pass) {
    const timeoutMs = Math.max(1, until - Date.now())
    const counts = yield* countMatches({ ...options, keep: Number.POSITIVE_INFINITY, countFiles: false, timeoutMs })
    timedOut ||= counts.timedOut
    return counts.files
  })
  /** Explicit files are searched with --text, since the pass over the tree has left out binary ones. */
  const countIn = Effect.fnUntraced(function* (
    files: ReadonlyArray<CountedFile>,
    { expression, options }: OtherSearch
  ) {
    const counted = yield* Effect.forEach(batchesOf(files), (batch) =>
      count({ ...pass, expression, options: ["--text", ...options], targets: batch.map(({ path }) => path) })
    )
    return counted.flat()
  })
  const found = yield* count({ ...pass, expression: search.candidates })
  const isBroken = search.candidates === brokenUtf8
  const latin1 = isBroken ? found : yield* countIn(found, { ...search.as, expression: brokenUtf8 })
  const paths = new Set(latin1.map(({ path }) => path))
  const files = isBroken ? yield* countIn(latin1, search.as) : found.filter(({ path }) => paths.has(path))
  return { paths, files: files.map(({ path, count }): CountedFile => ({ path, count, as: search.as })), timedOut }
})

export const needsLatin1 = (expression: Expression): boolean => latin1SearchFor(expression) !== undefined

interface Latin1Search {
  /** Conditions that every file to search must meet. */
  readonly candidates: Expression
  readonly as: OtherSearch
}

/** Undefined for an expression that means the same in Latin-1 and in UTF-8, or that no text in Latin-1 can match. */
const latin1SearchFor = (expression: Expression): Latin1Search | undefined => {
  const { query, isRegex } = expression
  const isPlain = !isRegex || !/[\\^$.*+?()[\]{}|]/u.test(query)
  if (/^\p{ASCII}*$/u.test(query) ? isPlain || !looksBeyondAscii(query) : isPlain && !/^[\0-\xFF]*$/u.test(query)) {
    return undefined
  }
  if (isPlain) {
    const either = inEitherEncoding(expression)
    return { candidates: either, as: { expression: either, options: [], reading: "latin1-bytes" } }
  }
  // ripgrep means Windows-1252 by that name, which has other characters for 27 control characters that no text has.
  return { candidates: brokenUtf8, as: { expression, options: ["--encoding=latin1"], reading: "latin1" } }
}

/** True when an expression of ASCII may match other characters, or looks at those beside a match. */
const looksBeyondAscii = (query: string): boolean => {
  const withoutEscapes = query.replaceAll(/\\[\p{Punctuation}\p{Symbol}dntrAz]/gu, "")
  return /[.\\]|\[\^|:\^|\(\?(?![:<P]|i\))/u.test(withoutEscapes)
}

/**
 * A text by its bytes in either encoding. A file of UTF-8 with a single broken byte is read as Latin-1, too, and what
 * it says in UTF-8 should be found all the same.
 */
const inEitherEncoding = ({ query, caseSensitive }: Expression): Expression => {
  const hex = (character: string): string => (character.codePointAt(0) ?? 0).toString(16).padStart(2, "0")
  const byteOf = (character: string): string => {
    const cases = [character, ...(caseSensitive ? [] : [character.toLowerCase(), character.toUpperCase()])]
    return `[${cases
      .filter((one) => /^[\0-\xFF]$/u.test(one))
      .map((one) => String.raw`\x${hex(one)}`)
      .join("")}]`
  }
  const characters = Array.from(query, (character) => String.raw`\x{${hex(character)}}`).join("")
  const bytes = Array.from(query, byteOf).join("")
  const utf8 = `(?${caseSensitive ? "" : "i"}:${characters})`
  return { query: `${utf8}|(?-u:${bytes})`, isRegex: true, caseSensitive: true }
}

// A byte of UTF-8 that is never used, that follows nothing it could follow, or that is not followed by what it needs.
const [follower, no] = [String.raw`[\x80-\xBF]`, String.raw`(?:[^\x80-\xBF]|$)`]
const brokenUtf8: Expression = {
  query: `(?-u:${[
    String.raw`[\xC0\xC1\xF5-\xFF]`,
    String.raw`(?:^|[\x00-\x7F])${follower}`,
    String.raw`[\xC2-\xDF](?:${no}|${follower}{2})`,
    String.raw`[\xE0-\xEF](?:${no}|${follower}${no}|${follower}{3})`,
    String.raw`[\xF0-\xF4](?:${no}|${follower}{1,2}${no}|${follower}{4})`,
    String.raw`\xE0[\x80-\x9F]|\xED[\xA0-\xBF]|\xF0[\x80-\x8F]|\xF4[\x90-\xBF]`
  ].join("|")})`,
  isRegex: true,
  caseSensitive: true
}
