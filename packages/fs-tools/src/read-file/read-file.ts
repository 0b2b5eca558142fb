import { type ScannedFile, type ToolError, toolError, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

import { type MediaType, mediaTypeOf, signatureBytes } from "../media/file-signature.ts"
import { TextFile } from "../text-file.ts"
import { type LineWindowRequest, LineWindow } from "./line-window.ts"

/** No answer carries more text than this, whatever a contract says about lines. */
const mostBytes = 64 * 1024 * 1024

/** Lines of a text file, with everything a contract may want to say about them. */
export interface Lines {
  /** The selected lines' exact text. Where the middle was left out: the first part. */
  readonly text: string
  /** The last part, where the middle was left out. */
  readonly tail: string
  readonly totalLines: number
  /** The first selected line, from 1. */
  readonly start: number
  /** The last selected line; `start - 1` when there is none. */
  readonly end: number
  readonly keptLines: number
  readonly omittedLines: number
  /** True when the byte limit cut the selection short. */
  readonly cutByBytes: boolean
  readonly encoding: TextEncoding
  readonly info: ScannedFile
}

export type TextEncoding = "utf-8" | "utf-16le" | "utf-16be" | "latin1"

/** A file that is not text, by its signature. */
export interface MediaFile {
  readonly media: MediaType
  readonly info: ScannedFile
}

export interface ReadLinesOptions extends Partial<LineWindowRequest> {
  /** Read UTF-16 with a byte order mark and Latin-1 too; without it anything but UTF-8 is `binary_file`. */
  readonly anyEncoding?: boolean
  /** Take the fingerprint too, of a file with at most so many bytes. */
  readonly fingerprintUpTo?: number
}

/** Reads a range of lines. The file passes by in chunks, so the size of what lies outside does not matter. */
export const readLines = Effect.fnUntraced(function* (path: string, options: ReadLinesOptions = {}) {
  const scanned = yield* scanLines(path, options)
  return yield* linesIn(scanned, path, options)
})

/** Reads a range of lines, unless the file's signature says that it is an image, a sound or a PDF. */
export const readLinesOrMedia = Effect.fnUntraced(function* (path: string, options: ReadLinesOptions = {}) {
  const scanned = yield* scanLines(path, options)
  const { found, head, info } = scanned
  const media = mediaTypeOf(head)
  // Nothing that reads as text is an image, whatever it begins with. A PDF may consist of text only.
  const isMedia = media !== undefined && (media.kind === "pdf" || !found.isUtf8 || found.hasNul)
  return isMedia ? ({ media, info } satisfies MediaFile) : yield* linesIn(scanned, path, options)
})

/** The lines of a text that was made of a file, such as that of a PDF. */
export const linesOfText = (
  text: string,
  info: ScannedFile,
  { start = 1, maxBytes = mostBytes, ...rest }: Partial<LineWindowRequest>
): Omit<Lines, "encoding"> => {
  const range = { ...rest, start, maxBytes }
  const window = new LineWindow(range)
  window.push(Buffer.from(text))
  const found = window.finish()
  const decoded = { text: decodeUtf8(found.head), tail: decodeUtf8(found.tail), encoding: "utf-8" as const }
  return linesOf(info, range, found, decoded)
}

const scanLines = Effect.fnUntraced(function* (path: string, options: ReadLinesOptions) {
  const { anyEncoding: _any, fingerprintUpTo = -1, start = 1, maxBytes = mostBytes, ...rest } = options
  const range: LineWindowRequest = { ...rest, start, maxBytes }
  const workspace = yield* Workspace
  const window = new LineWindow(range)
  // A file that is no text is not read to its end: it may be the image of a disk.
  let head: Uint8Array = new Uint8Array()
  const push = (chunk: Uint8Array): boolean => {
    if (head.length === 0) head = chunk.slice(0, signatureBytes)
    window.push(chunk)
    return window.isText
  }
  const info = yield* workspace.scan(path, push, { fingerprintUpTo })
  return { info, range, head, found: window.finish() }
})

const linesIn = Effect.fnUntraced(function* (
  { info, range, found }: Effect.Success<ReturnType<typeof scanLines>>,
  path: string,
  { anyEncoding = false, fingerprintUpTo = -1 }: ReadLinesOptions
) {
  const workspace = yield* Workspace
  if (found.isUtf8 && !found.hasNul) {
    return linesOf(info, range, found, {
      text: decodeUtf8(found.head),
      tail: decodeUtf8(found.tail),
      encoding: "utf-8"
    })
  }
  if (!anyEncoding) return yield* binaryFile(path)
  const whole = yield* workspace.snapshot(path, { maxBytes: mostBytes })
  const decoded = decodeOther(whole.content)
  if (decoded === undefined) return yield* binaryFile(path)
  const recoded = new LineWindow(range)
  recoded.push(Buffer.from(decoded.text))
  const again = recoded.finish()
  const { size } = whole.info
  return linesOf({ ...whole.info, ...(size <= fingerprintUpTo && { fingerprint: whole.fingerprint }) }, range, again, {
    text: decodeUtf8(again.head),
    tail: decodeUtf8(again.tail),
    encoding: decoded.encoding
  })
})

/** The number of a line that is counted from the end: -1 is the last one. The first where there are fewer. */
export const lineFromEnd = ({ totalLines }: Pick<Lines, "totalLines">, line: number): number =>
  Math.max(1, totalLines + 1 + line)

/** A whole file as it is, for contracts that hand out bytes. */
export const readBytes = Effect.fnUntraced(function* (path: string, maxBytes: number = mostBytes) {
  const workspace = yield* Workspace
  return yield* workspace.snapshot(path, { maxBytes })
})

/** Fails with `invalid_range` when the selection begins behind the last line. */
export const requireStart = <Found extends Pick<Lines, "totalLines">>(
  lines: Found,
  asked: { readonly start?: number | null | undefined; readonly end?: number | null | undefined }
): Effect.Effect<Found, ToolError<"invalid_range">> => {
  const start = asked.start ?? 1
  const isEmptyAndUnasked = lines.totalLines === 0 && (asked.start ?? undefined) === undefined
  if (isEmptyAndUnasked || (start <= lines.totalLines && start <= (asked.end ?? start))) return Effect.succeed(lines)
  return toolError(
    "invalid_range",
    `lines ${start} to ${asked.end ?? "the end"} were asked for, the file has ${lines.totalLines} lines`,
    {
      suggestion: "Ask for lines that the file has.",
      details: { total_lines: lines.totalLines, start, end: asked.end ?? null }
    }
  )
}

const linesOf = (
  info: ScannedFile,
  { start }: LineWindowRequest,
  found: ReturnType<LineWindow["finish"]>,
  decoded: Pick<Lines, "text" | "tail" | "encoding">
): Lines => ({
  ...decoded,
  info,
  totalLines: found.totalLines,
  start,
  end: start + found.selectedLines - 1,
  keptLines: found.keptLines,
  omittedLines: found.selectedLines - found.keptLines,
  cutByBytes: found.cutByBytes
})

export const binaryFile = (path: string): Effect.Effect<never, ToolError<"binary_file">> =>
  toolError("binary_file", `${path} is not a text file`, {
    suggestion: "Read it as base64 where the tool can, or use a command that understands the format.",
    details: { path }
  })

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true })
const decodeUtf8 = (bytes: Uint8Array): string => utf8.decode(bytes)

const decodeOther = (bytes: Uint8Array): { readonly text: string; readonly encoding: TextEncoding } | undefined => {
  const file = TextFile.decode(bytes)
  return file && { text: file.text, encoding: file.encoding === "latin-1" ? "latin1" : file.encoding }
}
