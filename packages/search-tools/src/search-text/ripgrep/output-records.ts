import { isUtf8 } from "node:buffer"

/** A path below the workspace, as far as it can be told. */
export interface FoundPath {
  readonly path: string
  /** False when the name is not UTF-8. */
  readonly isNameable: boolean
}

/** Parser for ripgrep's output with `--null`: `path NUL fields newline`, in whatever pieces it comes. A name never holds a NUL. */
export class OutputRecords<A> {
  readonly #read: (found: FoundPath, fields: Uint8Array) => A
  #rest: Uint8Array = new Uint8Array()

  constructor(read: (found: FoundPath, fields: Uint8Array) => A) {
    this.#read = read
  }

  push(chunk: Uint8Array): ReadonlyArray<A> {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const records: Array<A> = []
    let at = 0
    for (;;) {
      const nul = bytes.indexOf(0, at)
      const end = nul < 0 ? -1 : bytes.indexOf(newline, nul)
      if (end < 0) break
      records.push(this.#read(pathFrom(bytes.subarray(at, nul)), bytes.subarray(nul + 1, end)))
      at = end + 1
    }
    // A copy, also of a Buffer, whose slice is none: the chunk may be used again.
    this.#rest = new Uint8Array(bytes.subarray(at))
    return records
  }

  /** Bytes after the last record. */
  get rest(): Uint8Array {
    return this.#rest
  }
}

/** The number that begins at `from`. It ends at whatever is no digit: with --crlf there is a CR before the newline. */
export const numberAt = (fields: Uint8Array, from: number): number => {
  let value = 0
  for (let at = from; at < fields.length; at++) {
    const digit = (fields[at] ?? 0) - 48
    if (digit < 0 || digit > 9) break
    value = value * 10 + digit
  }
  return value
}

const newline = 10

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

const pathFrom = (bytes: Uint8Array): FoundPath => {
  const path = decoder.decode(bytes).replace(/^\.[/\\]/u, "")
  return { path: process.platform === "win32" ? path.replaceAll("\\", "/") : path, isNameable: isUtf8(bytes) }
}
