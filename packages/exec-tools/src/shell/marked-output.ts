import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"

/**
 * One output stream of a shell, in which the shell writes a mark after each command. Streams and reports come through
 * pipes of their own, so only the mark tells that all a command has printed was read. Marks are taken out.
 */
export class MarkedOutput {
  readonly #deliver: (chunk: Uint8Array) => void
  /** The last two marks: the one of an interrupted command may come late. */
  #marks: ReadonlyArray<string> = []
  #read = Deferred.makeUnsafe<void>()
  /** End of the last chunk, which may be the beginning of a mark. */
  #held = Buffer.alloc(0)

  constructor(deliver: (chunk: Uint8Array) => void) {
    this.#deliver = deliver
  }

  /** Begins a command, and returns an effect that ends when its mark was read. */
  expect(mark: string): Effect.Effect<void> {
    this.#marks = [mark, ...this.#marks.slice(0, 1)]
    this.#read = Deferred.makeUnsafe()
    return Deferred.await(this.#read)
  }

  push(chunk: Uint8Array): void {
    let rest = Buffer.concat([this.#held, chunk])
    let isRead = false
    for (const mark of this.#marks) {
      const at = rest.indexOf(mark)
      if (at < 0) continue
      rest = Buffer.concat([rest.subarray(0, at), rest.subarray(at + mark.length)])
      isRead ||= mark === this.#marks[0]
    }
    const whole = rest.length - this.#beginning(rest)
    this.#held = rest.subarray(whole)
    if (whole > 0) this.#deliver(rest.subarray(0, whole))
    // The waiting fiber resumes synchronously, so everything is delivered first.
    if (isRead) Deferred.doneUnsafe(this.#read, Effect.void)
  }

  /** Delivers what was held back. */
  flush(): void {
    if (this.#held.length > 0) this.#deliver(this.#held)
    this.#held = Buffer.alloc(0)
  }

  /** Length of the longest end of some bytes that a mark begins with. */
  #beginning(bytes: Buffer): number {
    const longest = Math.min(bytes.length, (this.#marks[0] ?? "").length - 1)
    for (let length = longest; length > 0; length--) {
      const end = bytes.subarray(bytes.length - length).toString("latin1")
      if (this.#marks.some((mark) => mark.startsWith(end))) return length
    }
    return 0
  }
}
