import { pipeline, type Readable } from "node:stream"
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib"

export interface Body {
  readonly bytes: Uint8Array
  /** True when there was more than the limit. */
  readonly truncated: boolean
}

/** More layers than this are only ever sent by those who mean harm. */
const maxEncodings = 2

const decoders: ReadonlyMap<string, () => NodeJS.ReadWriteStream> = new Map([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
  // 8 MB, which is all that HTTP lets a sender ask its reader to remember.
  ["zstd", () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: 23 } })]
])

// Without deflate: servers do not agree on what it means.
export const acceptedEncodings = "gzip, br, zstd"

/** The encodings of a body in the order they were applied, or undefined when one of them can't be undone. */
export const encodingsOf = (header: string): ReadonlyArray<string> | undefined => {
  const names = header
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "identity")
  return names.length <= maxEncodings && names.every((name) => decoders.has(name)) ? names : undefined
}

/** Reads and decompresses piece by piece, and stops at `maxBytes` of what comes out. */
export const readBody = async (source: Readable, encodings: ReadonlyArray<string>, maxBytes: number): Promise<Body> => {
  const stream = encodings.toReversed().reduce<NodeJS.ReadableStream>((inner, name) => {
    const decoder = decoders.get(name)?.()
    // The error reaches the loop below, which reads the last of the streams.
    return decoder === undefined ? inner : pipeline(inner, decoder, () => {})
  }, source)
  const kept = new KeptBytes(maxBytes)
  try {
    for await (const piece of stream) {
      if (!kept.push(piece as unknown as Uint8Array)) return { bytes: kept.bytes, truncated: true }
    }
    return { bytes: kept.bytes, truncated: false }
  } catch (error) {
    // No content has an encoding in name only: that of a 204 or a 304, or an empty page.
    if (source.readableEnded && !source.readableDidRead) return { bytes: new Uint8Array(), truncated: false }
    throw error
  } finally {
    source.destroy()
  }
}

/** Bytes in one piece, however small those are that they come in: each of those costs far more than it holds. */
class KeptBytes {
  readonly #limit: number
  #memory = new Uint8Array(65_536)
  #size = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get bytes(): Uint8Array {
    return this.#memory.subarray(0, this.#size)
  }

  /** False when it is more than the limit, and only the beginning was kept. */
  push(chunk: Uint8Array): boolean {
    const fitting = chunk.subarray(0, this.#limit - this.#size)
    const size = this.#size + fitting.length
    if (size > this.#memory.length) {
      const larger = new Uint8Array(Math.max(size, Math.min(this.#memory.length * 2, this.#limit)))
      larger.set(this.bytes)
      this.#memory = larger
    }
    this.#memory.set(fitting, this.#size)
    this.#size = size
    return fitting.length === chunk.length
  }
}
