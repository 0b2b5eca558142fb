import { createHash, hash as hashAtOnce, type Hash } from "node:crypto"
import { closeSync, constants, fstatSync, openSync, readSync, type Stats, writeSync } from "node:fs"

import { type FileKind, makeToolError, type ToolError } from "@haft/core"
import * as Effect from "effect/Effect"

import { fromErrno, isDirectory, notARegularFile, notFound } from "../errno.ts"
import type { Place, Root } from "./paths/containment.ts"

const chunkBytes = 256 * 1024
/** So much is read in one go before others get a turn. */
const sliceBytes = 8 * 1024 * 1024

/** Of what was looked at, or of an entry of a directory. */
export const kindOf = (found: Pick<Stats, "isFile" | "isDirectory" | "isSymbolicLink">): FileKind => {
  if (found.isFile()) return "file"
  if (found.isDirectory()) return "directory"
  return found.isSymbolicLink() ? "symlink" : "other"
}

/** Opens the regular file at a place for reading; nothing else is ever opened. */
export const openFile = (root: Root, { found, given }: Pick<Place, "found" | "given">): number => {
  if (found === undefined) throw notFound(given)
  if (found.stats.isDirectory()) throw isDirectory(given)
  if (!found.stats.isFile()) throw notARegularFile(given)
  try {
    return root.technique.open(found, constants.O_RDONLY)
  } catch (error) {
    throw fromErrno(error, given)
  }
}

export interface ReadOptions {
  readonly maxBytes: number
  /** Where the content goes; memory of its own, when absent. */
  readonly allocate?: (bytes: number) => Buffer
}

/** The whole of the regular file at a place. */
export const readPlace = (root: Root, place: Place, options: ReadOptions): Uint8Array => {
  const descriptor = openFile(root, place)
  try {
    return readDescriptor(descriptor, { ...options, given: place.given, size: place.found?.stats.size ?? 0 })
  } finally {
    closeSync(descriptor)
  }
}

interface ReadDescriptorOptions extends ReadOptions {
  readonly given: string
  readonly size: number
}

/** Everything from the descriptor on, up to `maxBytes`. `size` is what the file had when it was looked at. */
export const readDescriptor = (
  descriptor: number,
  { given, size, maxBytes, allocate = (bytes) => Buffer.allocUnsafeSlow(bytes) }: ReadDescriptorOptions
): Uint8Array => {
  if (size > maxBytes) throw tooLarge(given, size, maxBytes)
  let content = allocate(size)
  let filled = 0
  for (;;) {
    if (filled === content.length) {
      // A file that grows meanwhile is read up to the size it had. But 0 may mean that nobody knows it, as in /proc.
      if (size > 0) return content
      const extra = Buffer.allocUnsafe(4096)
      const read = readSync(descriptor, extra, 0, extra.length, null)
      if (read === 0) return content
      if (filled + read > maxBytes) throw tooLarge(given, filled + read, maxBytes)
      content = Buffer.concat([content, extra.subarray(0, read)])
      filled = content.length
      continue
    }
    const read = readSync(descriptor, content, filled, content.length - filled, null)
    if (read === 0) return content.subarray(0, filled)
    filled += read
  }
}

/** Hands the file over in chunks until `visit` returns false, with a pause between slices. */
export const scanDescriptor = (
  descriptor: number,
  size: number,
  visit: (chunk: Uint8Array) => boolean
): Effect.Effect<void> => {
  const chunk = chunkFor(size)
  let read = 0
  const slice = (): boolean => {
    for (const end = read + sliceBytes; read < end;) {
      const length = readSync(descriptor, chunk, 0, chunk.length, null)
      if (length === 0 || !visit(chunk.subarray(0, length))) return true
      read += length
      if (isEnd(read, size, length, chunk)) return true
    }
    return false
  }
  return inSlices(slice)
}

/** One byte more than a small file has, so that its end shows in the first read. */
const chunkFor = (size: number): Buffer => Buffer.allocUnsafe(size > 0 && size < chunkBytes ? size + 1 : chunkBytes)

/** True for a short read that reaches the size a file had: one more would only say that it ends here. 0 is no size. */
const isEnd = (read: number, size: number, length: number, chunk: Uint8Array): boolean =>
  size > 0 && read >= size && length < chunk.length

/** Repeats a piece of work until it says that it is done, and lets timers and signals through in between. */
const inSlices = (work: () => boolean): Effect.Effect<void> => repeatUntilDone(Effect.sync(work))

/** Repeats an effect until it says that it is done, and lets timers and signals through in between. */
export const repeatUntilDone = <E>(slice: Effect.Effect<boolean, E>): Effect.Effect<void, E> =>
  Effect.flatMap(slice, (done) => (done ? Effect.void : Effect.flatMap(nextTurn, () => repeatUntilDone(slice))))

/** Reads a file of a known size as a whole, with its fingerprint, with a pause between slices. */
export const readInSlices = (
  descriptor: number,
  size: number
): Effect.Effect<{ readonly content: Uint8Array; readonly fingerprint: string }> => {
  const content = Buffer.allocUnsafeSlow(size)
  const hash = newHash()
  let filled = 0
  const slice = (): boolean => {
    const begin = filled
    for (const end = Math.min(size, begin + sliceBytes); filled < end;) {
      const read = readSync(descriptor, content, filled, end - filled, null)
      if (read === 0) break
      filled += read
    }
    hash.update(content.subarray(begin, filled))
    return filled === begin || filled === size
  }
  return Effect.map(inSlices(slice), () => ({ content: content.subarray(0, filled), fingerprint: fingerprintOf(hash) }))
}

/** A file outside the workspace as content that can be gone over more than once. */
export const fileContent = (path: string): Iterable<Uint8Array> => ({
  *[Symbol.iterator]() {
    const descriptor = openSync(path, "r")
    try {
      yield* chunksOf(descriptor)
    } finally {
      closeSync(descriptor)
    }
  }
})

/** Lets the event loop do something else. */
export const nextTurn: Effect.Effect<void> = Effect.callback((resume) => {
  const handle = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(handle))
})

/** A larger file that nobody has read is not hashed to tell its state: that could take minutes, or for ever. */
const hashedBytes = 16 * 1024 * 1024

/** The state of a large file by its size, its time and its inode, which a rename keeps; undefined for a smaller one. */
export const stateByStats = (stats: Metadata): string | undefined =>
  stats.size > hashedBytes ? stateByMetadata(stats) : undefined

/** The state of a file whose content is not looked at. */
export const stateByMetadata = ({ size, mtimeMs, ino }: Metadata): string => `stat:${size}-${mtimeMs}-${ino}`

type Metadata = Pick<Stats, "size" | "mtimeMs" | "ino">

/** True for the state of a regular file, by its content or its metadata. */
export const isFileState = (state: string): boolean => state.startsWith("sha256:") || state.startsWith("stat:")

export const newHash = (): Hash => createHash("sha256")
export const fingerprintOf = (hash: Hash): string => fingerprint(hash.digest("hex"))

export const fingerprintBytes = (bytes: Uint8Array): string => fingerprint(hashAtOnce("sha256", bytes))

// `join` makes a flat string, a template a concatenated one. JSON.stringify is several times slower for an answer with a
// concatenated string in it, and the file's content is in the same answer.
const fingerprint = (digest: string): string => ["sha256", digest].join(":")

/** The fingerprint of content that is not on disk. */
export const fingerprintContent = (content: Iterable<Uint8Array>): string => {
  if (Array.isArray(content) && content.length === 1) return fingerprintBytes(content[0] as Uint8Array)
  const hash = newHash()
  for (const piece of content) hash.update(piece)
  return fingerprintOf(hash)
}

/** The fingerprint of an open file's content. Closes nothing. */
export const fingerprintDescriptor = (descriptor: number): string => fingerprintContent(chunksOf(descriptor))

/** An open file in chunks, each valid until the next one is asked for. */
export function* chunksOf(descriptor: number): Generator<Uint8Array, void> {
  const { size } = fstatSync(descriptor)
  const chunk = chunkFor(size)
  for (let read = 0; ;) {
    const length = readSync(descriptor, chunk, 0, chunk.length, null)
    if (length === 0) return
    read += length
    yield chunk.subarray(0, length)
    if (isEnd(read, size, length, chunk)) return
  }
}

/** The byte that ends a line. */
export const newline = 10

/** Writes all of it, where the descriptor stands: one write may take a part only. */
export const writeFully = (descriptor: number, piece: Uint8Array): void => {
  for (let done = 0; done < piece.length;) done += writeSync(descriptor, piece, done, piece.length - done)
}

/** Reads from the beginning of the file. The position of the descriptor does not change. */
export const writeFromStart = (descriptor: number, content: Uint8Array): void => {
  for (let done = 0; done < content.length;) {
    done += writeSync(descriptor, content, done, content.length - done, done)
  }
}

export const tooLarge = (given: string, size: number, maxBytes: number): ToolError<"file_too_large"> =>
  makeToolError("file_too_large", `${given} has ${size} bytes, more than the ${maxBytes} that can be read at once`, {
    suggestion: "Read a part of it, or search it.",
    details: { path: given, size, maxBytes }
  })
