import { hash } from "node:crypto"
import { closeSync, constants, mkdirSync, openSync, readFileSync, renameSync, statSync } from "node:fs"
import { join } from "node:path"

import type { JournalEvent } from "@haft/core"

import { writeFully } from "../workspace/content.ts"

/** A text with more characters is kept by its hash, as an artifact of the run. */
const longestText = 64 * 1024
/** Parameters or a reply that are larger without such texts are kept as a whole. */
const largestValue = 1024 * 1024

/** Placeholder for contents in an event: the artifact that has them, named by the SHA-256 of its bytes. */
interface ContentsReference {
  readonly artifact: string
  readonly bytes: number
  readonly kept_as: "text" | "json"
}

/** Entries of a list that an event shows, where the list is kept as an artifact. */
const listed = 100

/**
 * Keeps the large contents of an event as artifacts below `directory`, and returns the event with references to them.
 * Other fields than parameters and reply keep their shape, with lists cut short: `touches` is whole in `touches_whole`.
 */
export const keepLargeContents = (event: JournalEvent, directory: string): JournalEvent => {
  const large = Object.keys(event).filter((field) => sizeOf(event[field]) > longestText)
  if (large.length === 0) return event
  const kept = large.flatMap((field): ReadonlyArray<readonly [string, unknown]> => {
    const value = event[field]
    if (field === "params" || field === "reply") return [[field, smallForm(value, directory)]]
    const whole = keep(JSON.stringify(value), "json", directory)
    return [
      [field, clipped(value)],
      [field + wholeSuffix, whole]
    ]
  })
  return { ...event, ...Object.fromEntries(kept) }
}

const wholeSuffix = "_whole"

const clipped = (value: unknown): unknown => {
  if (typeof value === "string") return value.length > longestText / 16 ? `${value.slice(0, longestText / 16)}…` : value
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.slice(0, listed).map(clipped)
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, clipped(inner)]))
}

const smallForm = (value: unknown, directory: string): unknown => {
  const small = withoutLongTexts(value, directory)
  return sizeOf(small) > largestValue ? keep(JSON.stringify(small), "json", directory) : small
}

/** The event with its contents put back; a reference stays where the artifact is gone or was changed. */
export const restoreLargeContents = (event: JournalEvent, directory: string): JournalEvent => {
  const restore = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value
    if (Array.isArray(value)) return value.map(restore)
    if (isReference(value)) {
      const text = contentsOf(value, directory)
      return text === undefined ? value : value.kept_as === "json" ? restore(JSON.parse(text)) : text
    }
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, restore(inner)]))
  }
  const restored = restore(event) as JournalEvent
  const whole = Object.keys(event).filter((field) => field.endsWith(wholeSuffix) && isReference(Object(event[field])))
  return Object.fromEntries(
    Object.entries(restored).flatMap(([field, value]) => {
      if (whole.includes(field)) return isReference(Object(value)) ? [[field, value]] : []
      const all = whole.includes(field + wholeSuffix) ? restored[field + wholeSuffix] : undefined
      return [[field, all === undefined || isReference(Object(all)) ? value : all]]
    })
  ) as JournalEvent
}

// An estimate of the JSON's length. Strings count as they are.
const sizeOf = (value: unknown): number => {
  if (typeof value === "string") return value.length + 2
  if (typeof value !== "object" || value === null) return 8
  let sum = 2
  if (Array.isArray(value)) for (const inner of value) sum += sizeOf(inner) + 1
  else for (const key in value) sum += key.length + 4 + sizeOf((value as Readonly<Record<string, unknown>>)[key])
  return sum
}

const withoutLongTexts = (value: unknown, directory: string): unknown => {
  if (typeof value === "string") return value.length > longestText ? keep(value, "text", directory) : value
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map((inner) => withoutLongTexts(inner, directory))
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutLongTexts(inner, directory)]))
}

// Written under another name first: what has the name of a hash is whole.
const keep = (text: string, keptAs: ContentsReference["kept_as"], directory: string): ContentsReference => {
  const bytes = Buffer.from(text)
  const artifact = `contents/${hash("sha256", bytes, "hex")}`
  const file = join(directory, artifact)
  if (statSync(file, { throwIfNoEntry: false })?.size !== bytes.length) {
    mkdirSync(join(directory, "contents"), { recursive: true, mode: 0o700 })
    const { O_WRONLY, O_CREAT, O_TRUNC } = constants
    const descriptor = openSync(`${file}.new`, O_WRONLY | O_CREAT | O_TRUNC | (constants.O_NOFOLLOW ?? 0), 0o600)
    try {
      writeFully(descriptor, bytes)
    } finally {
      closeSync(descriptor)
    }
    renameSync(`${file}.new`, file)
  }
  return { artifact, bytes: bytes.length, kept_as: keptAs }
}

const isReference = (value: object): value is ContentsReference =>
  "kept_as" in value && "artifact" in value && /^contents\/[0-9a-f]{64}$/.test(String(value.artifact))

const contentsOf = ({ artifact }: ContentsReference, directory: string): string | undefined => {
  try {
    const bytes = readFileSync(join(directory, artifact))
    return `contents/${hash("sha256", bytes, "hex")}` === artifact ? bytes.toString() : undefined
  } catch {
    return undefined
  }
}
