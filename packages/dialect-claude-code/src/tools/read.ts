import { Buffer } from "node:buffer"
import { extname } from "node:path"

import { singleLine, toolError, Workspace } from "@haft/core"
import { type Lines, readBytes, readLines } from "@haft/fs-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { claudeCode } from "../dialect.ts"
import { cellsOf } from "../notebook.ts"
import { rememberFile } from "../read-files.ts"
import { taskAt, taskOutput } from "../task-output.ts"
import { inFileWords, worded } from "../worded.ts"

/** A file beyond this is read in parts, unless the call says that it means all of it. */
const mostBytes = 256 * 1024
/** Most of a file in one answer. */
const mostAnswered = 1024 * 1024
const fingerprintUpTo = 64 * 1024 * 1024

const imageTypes: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp"
}

const input = z.strictObject({
  file_path: z.string().describe("File, absolute or relative to the workspace"),
  offset: z.number().optional().describe("First line, counted from 1"),
  limit: z.number().optional().describe("Lines to read at most; all when absent"),
  pages: z.string().optional().describe("Pages of a PDF, such as 1-5"),
  allow_large: z.boolean().optional().describe("Read a file of more than 256 KB at once")
})

const output = z.object({
  type: z.enum(["text", "image", "notebook", "pdf"]),
  file: z.object({
    filePath: z.string(),
    content: z.string().optional(),
    numLines: z.number().optional(),
    startLine: z.number().optional(),
    totalLines: z.number().optional(),
    base64: z.string().optional(),
    type: z.string().optional(),
    originalSize: z.number().optional(),
    cells: z.array(z.unknown()).optional()
  })
})

type Call = z.output<typeof input>
type Answer = z.output<typeof output>

export const read = claudeCode.tool({
  name: "Read",
  operation: "read-file",
  description:
    "Read a file. Text comes with line numbers, from `offset` on and at most `limit` lines; images, PDFs and notebooks " +
    "are recognized by their names. A file must be read before Edit or Write changes it.",
  input,
  output,
  risk: "read_only",
  timeout: "60 seconds",
  touches: ({ file_path }) => (taskAt(file_path) === undefined ? { reads: [file_path] } : {}),
  execute: (call) => readAs(call).pipe(inFileWords(call.file_path)),
  render: (answer, call) => rendered(answer, call),
  blocks: (answer, call) => {
    const { base64, type, filePath } = answer.file
    if (base64 === undefined || type === undefined) return [{ type: "text", text: rendered(answer, call) }]
    if (answer.type === "image") return [{ type: "image", data: base64, mimeType: type }]
    return [
      { type: "text", text: rendered(answer, call) },
      { type: "resource", uri: `file://${filePath}`, mimeType: type, blob: base64 }
    ]
  }
})

const readAs = Effect.fnUntraced(function* (call: Call) {
  const { file_path: filePath, pages } = call
  const task = taskAt(filePath)
  if (task !== undefined) return textAnswer(filePath, yield* taskOutput(task))
  const extension = extname(filePath).toLowerCase()
  if (pages !== undefined) {
    return yield* toolError("invalid_params", "parameter 'pages': PDFs are read whole", {
      suggestion: "Leave `pages` out."
    })
  }
  if (imageTypes[extension] !== undefined || extension === ".pdf") return yield* readBinary(filePath, extension)
  if (extension === ".ipynb") return yield* readNotebook(filePath)
  return yield* readText(call)
})

const readText = Effect.fnUntraced(function* ({ file_path, offset, limit, allow_large = false }: Call) {
  const workspace = yield* Workspace
  const { size } = yield* workspace.info(file_path)
  const isPart = offset !== undefined || limit !== undefined
  if (size > mostBytes && !isPart && !allow_large) {
    return yield* worded(
      "file_too_large",
      `File content (${shownSize(size)}) exceeds maximum allowed size (256KB). Use offset and limit parameters to read specific portions of the file, or search for specific content instead of reading the whole file. To read it anyway, up to what still fits in your context, call Read again with allow_large: true — only if you genuinely need all of it or the user asked for the whole file.`
    )
  }
  const start = Math.max(1, Math.floor(offset ?? 1))
  const end = start + Math.max(1, Math.floor(limit ?? Number.MAX_SAFE_INTEGER)) - 1
  const lines = yield* readLines(file_path, { start, end, maxBytes: mostAnswered, anyEncoding: true, fingerprintUpTo })
  const { info, text, keptLines } = lines
  const totalLines = lines.totalLines + (start > lines.totalLines ? yield* emptyLastLine(file_path, lines) : 0)
  if (info.fingerprint !== undefined) yield* rememberFile(info.path, info.fingerprint)
  const file = { filePath: file_path, content: text, numLines: keptLines, startLine: start, totalLines }
  return { type: "text", file } satisfies Answer
})

/** 1 where a file ends with a line break: Claude Code counts the empty line after it, which is behind every other. */
const emptyLastLine = Effect.fnUntraced(function* (path: string, { totalLines }: Lines) {
  const last = yield* readLines(path, { start: totalLines, end: totalLines, anyEncoding: true })
  return last.text.endsWith("\n") ? 1 : 0
})

const readBinary = Effect.fnUntraced(function* (filePath: string, extension: string) {
  const { content, info, fingerprint } = yield* readBytes(filePath)
  yield* rememberFile(info.path, fingerprint)
  const isPdf = extension === ".pdf"
  return {
    type: isPdf ? "pdf" : "image",
    file: {
      filePath,
      base64: Buffer.from(content).toString("base64"),
      type: isPdf ? "application/pdf" : (imageTypes[extension] ?? ""),
      originalSize: info.size
    }
  } satisfies Answer
})

const readNotebook = Effect.fnUntraced(function* (filePath: string) {
  const { content, info, fingerprint } = yield* readBytes(filePath)
  const cells = cellsOf(Buffer.from(content).toString("utf8"))
  if (cells === undefined) return yield* worded("binary_file", "Notebook file is not valid JSON.")
  yield* rememberFile(info.path, fingerprint)
  return { type: "notebook", file: { filePath, cells: [...cells] } } satisfies Answer
})

const textAnswer = (filePath: string, content: string): Answer => {
  const totalLines = content === "" ? 0 : content.replace(/\n$/, "").split("\n").length
  return { type: "text", file: { filePath, content, numLines: totalLines, startLine: 1, totalLines } }
}

const rendered = ({ type, file }: Answer, { offset, limit }: Call): string => {
  const { content = "", startLine = 1, numLines = 0, totalLines = 0, filePath, originalSize = 0, cells = [] } = file
  if (type === "image") return ""
  if (type === "pdf") return `PDF file read: ${singleLine(filePath)} (${shownSize(originalSize)})`
  if (type === "notebook") return cells.map((cell) => JSON.stringify(cell)).join("\n")
  if (totalLines === 0) return reminder("Warning: the file exists but the contents are empty.")
  if (startLine > totalLines) {
    return reminder(
      `Warning: the file exists but is shorter than the provided offset (${offset}). The file has ${totalLines} lines.`
    )
  }
  const isToTheEnd = startLine + numLines > totalLines && (limit === undefined || numLines < limit)
  const lines = (isToTheEnd ? content : content.replace(/\r?\n$/, "")).split(/\r?\n/)
  const shown = lines.map((line, index) => `${startLine + index}\t${line}`).join("\n")
  const isCut = startLine + numLines <= totalLines && (limit === undefined || numLines < limit)
  return isCut ? `${shown}\n${reminder(`The file goes on: read it from offset ${startLine + numLines}.`)}` : shown
}

const reminder = (text: string): string => `<system-reminder>${text}</system-reminder>`

const shownSize = (bytes: number): string => {
  if (bytes < 1024) return `${bytes} bytes`
  return bytes < 1024 ** 2 ? `${(bytes / 1024).toFixed(1)}KB` : `${(bytes / 1024 ** 2).toFixed(1)}MB`
}
