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
  const chunks: Array<Uint8Array> = []
  let size = 0
  try {
    for await (const piece of stream) {
      const chunk = piece as unknown as Uint8Array
      chunks.push(chunk.subarray(0, maxBytes - size))
      size += chunk.length
      if (size > maxBytes) return { bytes: Buffer.concat(chunks), truncated: true }
    }
    return { bytes: Buffer.concat(chunks), truncated: false }
  } catch (error) {
    // No content has an encoding in name only: that of a 204 or a 304, or an empty page.
    if (source.readableEnded && !source.readableDidRead) return { bytes: new Uint8Array(), truncated: false }
    throw error
  } finally {
    source.destroy()
  }
}
