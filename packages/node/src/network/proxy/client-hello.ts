/** Protocol of a connection, detected from its first bytes. */
export type FirstBytes =
  /** Too few to tell. */
  | { readonly kind: "incomplete" }
  /** A TLS client's greeting; `serverName` is absent where it names no server. */
  | { readonly kind: "tls"; readonly serverName?: string }
  /** Begins like TLS and is not. */
  | { readonly kind: "malformed" }
  | { readonly kind: "other" }

/** Longest greeting that is read; those of real clients are shorter than 4 KiB. */
const longestHello = 64 * 1024

/** Looks at the first bytes that a client sends. The greeting may come in several records, cut anywhere. */
export const inspectFirstBytes = (bytes: Uint8Array): FirstBytes => {
  if (bytes.length === 0) return incomplete
  if (bytes[0] !== handshakeRecord) return { kind: "other" }
  const message = handshakeIn(bytes)
  if (message === undefined) return malformed
  if (message.length < 4) return bytes.length > longestHello ? malformed : incomplete
  if (message[0] !== clientHello) return malformed
  const length = 4 + uint(message, 1, 3)
  if (length > longestHello) return malformed
  if (message.length < length) return incomplete
  try {
    return serverNameIn(new Reader(message.subarray(4, length)))
  } catch (cause) {
    if (cause instanceof RangeError) return malformed
    throw cause
  }
}

const incomplete: FirstBytes = { kind: "incomplete" }
const malformed: FirstBytes = { kind: "malformed" }
const handshakeRecord = 22
const clientHello = 1
const serverNameExtension = 0

/** The handshake bytes of the records that are there so far; undefined for records of another kind. */
const handshakeIn = (bytes: Uint8Array): Uint8Array | undefined => {
  const parts: Array<Uint8Array> = []
  for (let at = 0; at < bytes.length;) {
    if (bytes[at] !== handshakeRecord) break
    if (bytes.length < at + 5) return bytes.length > at + 1 && bytes[at + 1] !== 3 ? undefined : concat(parts)
    const length = uint(bytes, at + 3, 2)
    if (bytes[at + 1] !== 3 || length === 0 || length > 2 ** 14) return undefined
    parts.push(bytes.subarray(at + 5, at + 5 + length))
    at += 5 + length
  }
  return concat(parts)
}

const concat = (parts: ReadonlyArray<Uint8Array>): Uint8Array => Buffer.concat(parts)

const uint = (bytes: Uint8Array, at: number, size: number): number =>
  bytes.subarray(at, at + size).reduce((sum, byte) => sum * 256 + byte, 0)

const serverNameIn = (hello: Reader): FirstBytes => {
  hello.skip(2 + 32)
  hello.skip(hello.uint(1))
  hello.skip(hello.uint(2))
  hello.skip(hello.uint(1))
  if (hello.isAtEnd) return { kind: "tls" }
  const extensions = hello.part(hello.uint(2))
  const names: Array<string> = []
  while (!extensions.isAtEnd) {
    const type = extensions.uint(2)
    const extension = extensions.part(extensions.uint(2))
    if (type !== serverNameExtension) continue
    const list = extension.part(extension.uint(2))
    while (!list.isAtEnd) {
      if (list.uint(1) !== 0) return malformed
      names.push(list.text(list.uint(2)))
    }
  }
  // Two names, or two lists, mean one thing to this program and maybe another to a server.
  if (names.length > 1) return malformed
  return { kind: "tls", ...(names[0] !== undefined && { serverName: names[0] }) }
}

/** Reads a message from its beginning to its end. What is cut short throws a RangeError. */
class Reader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  uint(size: number): number {
    return uint(this.#take(size), 0, size)
  }

  skip(length: number): void {
    this.#take(length)
  }

  part(length: number): Reader {
    return new Reader(this.#take(length))
  }

  text(length: number): string {
    return Buffer.from(this.#take(length)).toString("latin1")
  }

  #take(length: number): Uint8Array {
    if (this.#at + length > this.#bytes.length) throw new RangeError("cut short")
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }
}
