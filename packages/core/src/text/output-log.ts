import { type Clipped, HeadAndTail } from "./clip.ts"

/** Part of the output after a cursor that fits into a reply. */
export interface OutputSince extends Clipped {
  /** Where the next reply goes on. */
  readonly cursor: number
}

/** How much of a reply's beginning outlives a flood. */
const pinnedBytes = 50_000

/**
 * Output of a program in bounded memory, addressed by byte from its first one on: the last bytes in a ring,
 * and the first ones after a pinned position, so that a flood takes the middle of a reply and not its beginning.
 */
export class OutputLog {
  readonly #limit: number
  #ring = new Uint8Array(4096)
  #end = 0
  #pinnedFrom = 0
  #pinned = new Uint8Array(4096)
  #pinnedLength = 0

  constructor(limitBytes: number) {
    this.#limit = limitBytes
  }

  /** Bytes printed so far: the cursor behind the last one. */
  get end(): number {
    return this.#end
  }

  /** The oldest byte that is still in the ring. */
  get start(): number {
    return Math.max(0, this.#end - this.#ring.length)
  }

  /** How many of the last bytes are kept. */
  get capacity(): number {
    return this.#limit
  }

  append(chunk: Uint8Array): void {
    if (this.#pinnedFrom + this.#pinnedLength === this.#end) this.#extendPinned(chunk)
    this.#grow(this.#end + chunk.length)
    const size = this.#ring.length
    const kept = chunk.subarray(-size)
    const at = (this.#end + chunk.length - kept.length) % size
    const untilWrap = kept.subarray(0, size - at)
    this.#ring.set(untilWrap, at)
    this.#ring.set(kept.subarray(untilWrap.length), 0)
    this.#end += chunk.length
  }

  /** Keeps the first bytes after `cursor` for later, if they are still there or yet to come. */
  pin(cursor: number): void {
    if (cursor === this.#pinnedFrom || cursor < this.start) return
    this.#pinnedFrom = cursor
    this.#pinnedLength = 0
    this.#extendPinned(this.slice(cursor, cursor + pinnedBytes))
  }

  /** Bytes of the ring between two cursors, as far as they are there. */
  slice(from: number, to: number): Uint8Array {
    const size = this.#ring.length
    const first = Math.max(from, this.start)
    const last = Math.min(to, this.#end)
    if (first >= last) return new Uint8Array()
    const at = first % size
    const length = last - first
    const bytes = new Uint8Array(length)
    const untilWrap = this.#ring.subarray(at, Math.min(size, at + length))
    bytes.set(untilWrap)
    bytes.set(this.#ring.subarray(0, length - untilWrap.length), untilWrap.length)
    return bytes
  }

  /** The output after `cursor`, cut to a budget. `isOver` says that no byte will complete an unfinished character. */
  since(cursor: number, maxBytes: number, isOver: boolean): OutputSince {
    const from = Math.min(cursor, this.#end)
    const tail = this.slice(Math.max(this.#end - 3, from), this.#end)
    const end = isOver ? this.#end : this.#end - unfinishedBytes(tail)
    const output = new HeadAndTail(maxBytes)
    let reached = from
    if (from < this.start && from >= this.#pinnedFrom) {
      const pinned = this.#pinned.subarray(
        from - this.#pinnedFrom,
        Math.min(this.#pinnedLength, end - this.#pinnedFrom)
      )
      output.push(pinned)
      reached += pinned.length
    }
    const next = Math.max(reached, this.start)
    output.skip(next - reached)
    output.push(this.slice(next, end))
    return { ...output.finish(), cursor: end }
  }

  #extendPinned(bytes: Uint8Array): void {
    const kept = bytes.subarray(0, pinnedBytes - this.#pinnedLength)
    if (kept.length === 0) return
    const needed = this.#pinnedLength + kept.length
    if (needed > this.#pinned.length) this.#pinned = enlarged(this.#pinned, needed, pinnedBytes)
    this.#pinned.set(kept, this.#pinnedLength)
    this.#pinnedLength = needed
  }

  // The ring has not gone round before it has its full size, so its content can be copied as it lies.
  #grow(needed: number): void {
    if (needed <= this.#ring.length || this.#ring.length >= this.#limit) return
    this.#ring = enlarged(this.#ring, needed, this.#limit)
  }
}

const enlarged = (bytes: Uint8Array, needed: number, limit: number): Uint8Array<ArrayBuffer> => {
  const larger = new Uint8Array(Math.min(limit, Math.max(needed, bytes.length * 2)))
  larger.set(bytes)
  return larger
}

/** How many bytes at the end begin a UTF-8 character without finishing it. */
const unfinishedBytes = (tail: Uint8Array): number => {
  for (let back = 1; back <= tail.length; back++) {
    const byte = tail[tail.length - back] ?? 0
    if (byte < 0b1000_0000) return 0
    if (byte < 0b1100_0000) continue
    const length = byte >= 0b1111_0000 ? 4 : byte >= 0b1110_0000 ? 3 : 2
    return length > back ? back : 0
  }
  return 0
}
