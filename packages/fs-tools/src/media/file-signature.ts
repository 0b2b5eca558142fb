/** Kind of a media file, by its first bytes. */
export interface MediaType {
  readonly kind: "image" | "audio" | "pdf"
  readonly mimeType: string
  /** True for an image that model APIs take as it is. */
  readonly isCommon?: boolean
}

/** Bytes at the beginning of a file that {@link mediaTypeOf} looks at. */
export const signatureBytes = 16

/** Type of a file that begins with these bytes; undefined for text and for what no model can be shown. */
export const mediaTypeOf = (head: Uint8Array): MediaType | undefined => {
  const hex = Buffer.from(head.subarray(0, signatureBytes)).toString("hex")
  const found = signatures.find(([pattern]) => pattern.test(hex))
  return found?.[1]
}

const image = (mimeType: string, isCommon = true): MediaType => ({ kind: "image", mimeType, isCommon })
const audio = (mimeType: string): MediaType => ({ kind: "audio", mimeType })

// In hexadecimal.
const signatures: ReadonlyArray<readonly [RegExp, MediaType]> = [
  [/^89504e470d0a1a0a/, image("image/png")],
  [/^ffd8ff/, image("image/jpeg")],
  [/^474946383[79]61/, image("image/gif")],
  [/^52494646.{8}57454250/, image("image/webp")],
  [/^.{8}66747970617669(?:66|73)/, image("image/avif", false)],
  [/^255044462d3\d/, { kind: "pdf", mimeType: "application/pdf" }],
  [/^52494646.{8}57415645/, audio("audio/wav")],
  [/^4944330[2-4]0/, audio("audio/mpeg")],
  [/^fff[23b]/, audio("audio/mpeg")],
  [/^664c614300/, audio("audio/flac")],
  [/^4f67675300/, audio("audio/ogg")],
  [/^.{8}667479704d3441/, audio("audio/mp4")]
]
