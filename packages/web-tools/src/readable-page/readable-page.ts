import * as Effect from "effect/Effect"

import { decodeText } from "./charset.ts"
import { indentJson } from "./indent-json.ts"
import { readApart, type ReadLimits } from "./read-apart.ts"

export interface PageContent {
  readonly bytes: Uint8Array
  /** The header as it came; empty when there was none. */
  readonly contentType: string
  readonly url: string
}

type Kind = "html" | "json" | "text" | "pdf" | "binary"

export interface ReadablePage {
  readonly title: string | undefined
  readonly text: string
  /** True when only the beginning of a very long page was read. */
  readonly isCut?: boolean
}

/** Turning a page into Markdown takes many times its own memory. */
const maxCharacters = 1_000_000

/** Readable form of a response: pages as Markdown, JSON indented, text as it is, anything else only named. */
export const readablePage = (content: PageContent, limits?: ReadLimits): Effect.Effect<ReadablePage> => {
  const kind = kindOf(content)
  if (kind === "binary") return Effect.succeed(untitled(nameOnly(content)))
  if (kind === "pdf") return orNameOnly(content, readApart({ kind, bytes: content.bytes }, limits))
  if (kind === "html") {
    // Bytes beyond it are not even decoded: many pages may wait for their turn at the same time.
    const bytes = content.bytes.subarray(0, maxCharacters * 2)
    const html = decodeText(bytes, content.contentType).slice(0, maxCharacters)
    const isCut = bytes.length < content.bytes.length || html.length === maxCharacters
    const page = orNameOnly(content, readApart({ kind, html, url: content.url }, limits))
    return Effect.map(page, (read) => ({ ...read, isCut }))
  }
  const text = decodeText(content.bytes, content.contentType)
  return Effect.succeed(untitled(kind === "json" ? indentJson(text) : text))
}

/** Decoded bytes of a response as they are; what is not text is only named. */
export const rawText = (content: PageContent): string =>
  ["html", "json", "text"].includes(kindOf(content))
    ? decodeText(content.bytes, content.contentType)
    : nameOnly(content)

/** `text/html` of `text/html; charset=utf-8`. */
export const mediaType = (contentType: string): string => (contentType.split(";")[0] ?? "").trim().toLowerCase()

const orNameOnly = (content: PageContent, read: Effect.Effect<ReadablePage | undefined>): Effect.Effect<ReadablePage> =>
  Effect.map(read, (page) => page ?? untitled(nameOnly(content)))

const untitled = (text: string): ReadablePage => ({ title: undefined, text })

const nameOnly = ({ contentType, bytes }: PageContent): string =>
  `[${mediaType(contentType) || "unknown type"}, ${bytes.length} bytes, not shown]`

const kindOf = ({ bytes, contentType }: PageContent): Kind => {
  const type = mediaType(contentType)
  if (type === "text/html" || type === "application/xhtml+xml") return hasNul(bytes, contentType) ? "binary" : "html"
  if (type === "application/json" || type === "text/json" || type.endsWith("+json")) return "json"
  if (type === "application/pdf") return "pdf"
  const isText =
    type.startsWith("text/") ||
    type.endsWith("+xml") ||
    /^application\/(?:xml|javascript|ecmascript|x-javascript|yaml|x-yaml|toml|x-sh|x-ndjson|graphql|sql|rtf)$/.test(
      type
    )
  if (isText) return hasNul(bytes, contentType) ? "binary" : "text"
  return type === "" || type === "application/octet-stream" ? sniffed(bytes) : "binary"
}

const sniffed = (bytes: Uint8Array): Kind => {
  const start = Buffer.from(bytes.subarray(0, 1024)).toString("latin1").trimStart().toLowerCase()
  if (start.startsWith("%pdf-")) return "pdf"
  if (hasNul(bytes, "")) return "binary"
  return /^(?:<!doctype html|<html|<head|<body)\b/.test(start) ? "html" : "text"
}

// UTF-16 is text full of NUL bytes; it says what it is by its charset or its mark.
const hasNul = (bytes: Uint8Array, contentType: string): boolean => {
  const isUtf16 = /utf-16/i.test(contentType) || (bytes[0] ?? 0) + (bytes[1] ?? 0) === 0xfe + 0xff
  return !isUtf16 && bytes.subarray(0, 8192).includes(0)
}
