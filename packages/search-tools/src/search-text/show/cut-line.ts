/** Characters of a line that are shown. */
const maximumCharacters = 2000
/** Of these, so many before the match. */
const charactersBefore = 500

/** A piece of a line: where it begins and what must stay visible, in bytes of the line, and the line's length. */
export interface Piece {
  readonly start: number
  readonly focus: number
  readonly length: number
}

/** The text of a line, cut around its focus when it is too long, with `…` at each cut. */
export const cutLine = (
  bytes: Uint8Array,
  { start, focus, length }: Piece,
  encoding: "utf-8" | "latin1" = "utf-8"
): string => {
  const decode = encoding === "latin1" ? decodeLatin1 : decodeUtf8
  const isWholeStart = start === 0
  const isWholeEnd = start + bytes.length >= length
  const text = decode(bytes, { isWholeStart, isWholeEnd })
  const line = isWholeEnd && text.endsWith("\r") ? text.slice(0, -1) : text
  if (isWholeStart && isWholeEnd && line.length <= maximumCharacters) return line
  const focusAt = decode(bytes.subarray(0, focus - start), { isWholeStart, isWholeEnd: true }).length
  const latest = isWholeEnd ? line.length - maximumCharacters : focusAt
  const from = startOfCharacter(line, Math.max(0, Math.min(focusAt - charactersBefore, latest)))
  const to = startOfCharacter(line, Math.min(line.length, from + maximumCharacters))
  const isCutBefore = from > 0 || !isWholeStart
  const isCutAfter = to < line.length || !isWholeEnd
  return `${isCutBefore ? "…" : ""}${line.slice(from, to)}${isCutAfter ? "…" : ""}`
}

const decodeLatin1 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1")

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

// A piece that does not begin or end with the line may begin or end inside a character.
const decodeUtf8 = (
  bytes: Uint8Array,
  edges: { readonly isWholeStart: boolean; readonly isWholeEnd: boolean }
): string => {
  let from = 0
  let to = bytes.length
  if (!edges.isWholeStart) while (from < 3 && isContinuation(bytes[from])) from++
  if (!edges.isWholeEnd) {
    let lead = to - 1
    while (lead > to - 4 && isContinuation(bytes[lead])) lead--
    if ((bytes[lead] ?? 0) >= 0b1100_0000) to = lead
  }
  return decoder.decode(from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to))
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000

const startOfCharacter = (text: string, at: number): number => {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at
}
