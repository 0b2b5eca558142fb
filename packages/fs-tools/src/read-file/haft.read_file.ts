import { attachBlock, readingArtifacts, readsOf, type ScannedFile } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { anchorsOf } from "../edit-text/line-anchors.ts"
import { notebookText } from "../media/notebook-cells.ts"
import { pdfPages } from "../media/pdf-pages.ts"
import { showAudio, showImage } from "../media/read-media.ts"
import { TextFile } from "../text-file.ts"
import { numberLines, prefixLines } from "./number-lines.ts"
import {
  binaryFile,
  lineFromEnd,
  type Lines,
  linesOfText,
  readBytes,
  readLines,
  readLinesOrMedia,
  requireStart
} from "./read-file.ts"

/** A fingerprint takes longer than finding lines; beyond this size it is left out. */
const fingerprintUpTo = 16 * 1024 * 1024

export const haftReadFile = haft.tool({
  name: "read_file",
  operation: "read-file",
  description:
    "Read a file, or some lines: text, images, audio, PDFs by page and notebooks by cell. " +
    "Text is UTF-8, UTF-16 with a byte order mark or Latin-1.",
  input: z.strictObject({
    path: z.string().describe("File, relative to the workspace, or artifact:… from a reply"),
    start_line: z
      .number()
      .int()
      .refine((line) => line !== 0, "lines are counted from 1, or from the end with -1")
      .optional()
      .describe("First line, from 1; -20 reads the last 20"),
    end_line: z.number().int().min(1).optional().describe("Last line, included"),
    max_lines: z.number().int().min(1).max(100_000).default(2000).describe("Most lines to return"),
    max_bytes: z.number().int().min(1).max(67_108_864).default(262_144).describe("Most bytes to return"),
    line_numbers: z.boolean().default(false).describe("Put number and tab before each line"),
    anchors: z.boolean().default(false).describe("Put an anchor for edit_file before each line"),
    encoding: z
      .enum(["text", "raw", "base64"])
      .default("text")
      .describe("raw converts no PDF or notebook, base64 returns all bytes")
  }),
  output: z.object({
    path: z.string(),
    content: z.string(),
    encoding: z.string(),
    start_line: z.number().optional(),
    end_line: z.number().optional(),
    total_lines: z.number().optional(),
    media_type: z.string().optional(),
    width: z.number().optional(),
    height: z.number().optional(),
    scaled: z.boolean().optional(),
    pages: z.number().optional(),
    cells: z.number().optional(),
    truncated: z.boolean(),
    size: z.number(),
    modified: z.string(),
    fingerprint: z.string().optional()
  }),
  risk: "read_only",
  timeout: "60 seconds",
  touches: ({ path }) => ({ reads: readsOf(path) }),
  execute: (call) =>
    Effect.map(
      readingArtifacts(call.path, (path) => readFile({ ...call, path })),
      (read) => (readsOf(call.path).length === 0 ? { ...read, path: call.path } : read)
    ),
  render: ({ content, encoding, truncated, end_line = 0, total_lines, media_type, width, height, size }) => {
    if (encoding === "image") return `[${media_type}, ${width} x ${height} pixels, ${size} bytes]`
    if (encoding === "audio") return `[${media_type}, ${size} bytes]`
    if (!truncated) return content
    if (!content.endsWith("\n")) return `${content}\n[the rest of line ${end_line} left out]`
    return `${content}[lines ${end_line + 1} to ${total_lines} left out]`
  }
})

const readFile = Effect.fnUntraced(function* (call: ReadCall & { readonly encoding: "text" | "raw" | "base64" }) {
  if (call.encoding === "base64") {
    const { content, info, fingerprint } = yield* readBytes(call.path)
    return {
      content: Buffer.from(content).toString("base64"),
      encoding: "base64",
      truncated: false,
      ...about({ ...info, fingerprint })
    }
  }
  const { path, start_line = 1 } = call
  const readRange = (range: { readonly start?: number; readonly end: number }) => {
    const options = { ...range, maxBytes: call.max_bytes, anyEncoding: true, fingerprintUpTo }
    return call.encoding === "raw" ? readLines(path, options) : readLinesOrMedia(path, options)
  }
  const counted = start_line < 0 ? yield* readRange({ end: 0 }) : undefined
  const start = counted === undefined || "media" in counted ? start_line : lineFromEnd(counted, start_line)
  const read = counted !== undefined && "media" in counted ? counted : yield* readRange(rangeOf(call, start))
  if ("media" in read) {
    const { media, info } = read
    if (media.kind === "pdf") return yield* readPdf(info, call)
    const shown = yield* media.kind === "image" ? showImage(path, media) : showAudio(info, media)
    return { content: "", encoding: media.kind, truncated: false, ...shown, ...about(info) }
  }
  const notebook = call.encoding === "text" && /\.ipynb$/i.test(path) ? yield* readNotebook(read.info, call) : undefined
  if (notebook !== undefined) return notebook
  const reply = yield* textReply(read, call, start)
  return call.anchors ? { ...reply, content: yield* anchored(path, read.text, start) } : reply
})

/** Puts the anchor of each line before it. A file is read whole for that: an anchor depends on the lines around it. */
const anchored = Effect.fnUntraced(function* (path: string, shown: string, start: number) {
  const { content } = yield* readBytes(path)
  const anchors = anchorsOf(TextFile.decode(content)?.text ?? "")
  return prefixLines(shown, (index) => `${anchors[start - 1 + index] ?? ""}\t`)
})

interface ReadCall {
  readonly path: string
  readonly start_line?: number | undefined
  readonly end_line?: number | undefined
  readonly max_lines: number
  readonly max_bytes: number
  readonly line_numbers: boolean
  readonly anchors: boolean
}

const rangeOf = ({ end_line, max_lines }: ReadCall, start: number) => ({
  start,
  end: Math.min(end_line ?? Number.POSITIVE_INFINITY, start + max_lines - 1)
})

const textReply = Effect.fnUntraced(function* (
  read: Omit<Lines, "encoding"> & { readonly encoding: string },
  { start_line, end_line, line_numbers, anchors }: ReadCall,
  start: number
) {
  // An empty file has an end, too, and nothing before it.
  const isUnasked = start_line === undefined || (start_line < 0 && read.totalLines === 0)
  yield* requireStart(read, { start: isUnasked ? undefined : start, end: end_line })
  const lastAsked = Math.min(end_line ?? read.totalLines, read.totalLines)
  const lastKept = start + read.keptLines - 1
  return {
    content: line_numbers && !anchors ? numberLines(read.text, start) : read.text,
    encoding: read.encoding,
    start_line: start,
    end_line: lastKept,
    total_lines: read.totalLines,
    truncated: lastKept < lastAsked || read.cutByBytes,
    ...about(read.info)
  }
})

/** Reply with lines of a text that was made of the file. */
const convertedReply = Effect.fnUntraced(function* (text: string, encoding: string, info: ScannedFile, call: ReadCall) {
  const { start_line = 1, max_bytes } = call
  const start = start_line > 0 ? start_line : lineFromEnd(linesOfText(text, info, { end: 0 }), start_line)
  const lines = linesOfText(text, info, { ...rangeOf(call, start), maxBytes: max_bytes })
  return yield* textReply({ ...lines, encoding }, call, start)
})

const readPdf = Effect.fnUntraced(function* (info: ScannedFile, call: ReadCall) {
  const { content } = yield* readBytes(call.path)
  const read = yield* Effect.promise(() => pdfPages(content))
  if (read === undefined) return yield* binaryFile(call.path)
  return { ...(yield* convertedReply(read.text, "pdf", info, call)), pages: read.pages }
})

/** Reply with the cells of a notebook; undefined for a file that is only called one. */
const readNotebook = Effect.fnUntraced(function* (info: ScannedFile, call: ReadCall) {
  const { content } = yield* readBytes(call.path)
  const notebook = notebookText(new TextDecoder().decode(content))
  if (notebook === undefined) return undefined
  for (const block of notebook.blocks) yield* attachBlock(block)
  return { ...(yield* convertedReply(notebook.text, "notebook", info, call)), cells: notebook.cells }
})

const about = ({ path, size, modified, fingerprint }: ScannedFile) => ({
  path,
  size,
  modified: new Date(modified).toISOString(),
  ...(fingerprint !== undefined && { fingerprint })
})
