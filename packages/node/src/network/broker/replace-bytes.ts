import { Transform } from "node:stream"

/** Bytes and what stands in their place, which is as long. */
export interface ByteReplacement {
  readonly from: Buffer
  readonly to: Buffer
}

/** Replaces bytes in a stream, also where they come in several chunks. What can't be a part of them is passed on at once. */
export const replaceBytes = (replacements: ReadonlyArray<ByteReplacement>): Transform => {
  let held: Buffer = Buffer.alloc(0)
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const bytes = Buffer.concat([held, chunk])
      replaceIn(bytes, replacements)
      const ready = bytes.length - beginningAtEnd(bytes, replacements)
      held = bytes.subarray(ready)
      done(null, bytes.subarray(0, ready))
    },
    flush(done) {
      done(null, held)
    }
  })
}

/** Replaces bytes in a text, such as a header. */
export const replaceInText = (text: string, replacements: ReadonlyArray<ByteReplacement>): string => {
  const bytes = Buffer.from(text, "latin1")
  replaceIn(bytes, replacements)
  return bytes.toString("latin1")
}

const replaceIn = (bytes: Buffer, replacements: ReadonlyArray<ByteReplacement>): void => {
  for (const { from, to } of replacements) {
    for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + from.length)) to.copy(bytes, at)
  }
}

/** How many of the last bytes may be the beginning of something to replace. */
const beginningAtEnd = (bytes: Buffer, replacements: ReadonlyArray<ByteReplacement>): number =>
  Math.max(
    0,
    ...replacements.map(({ from }) => {
      for (let length = Math.min(from.length - 1, bytes.length); length > 0; length--) {
        if (bytes.subarray(bytes.length - length).equals(from.subarray(0, length))) return length
      }
      return 0
    })
  )
