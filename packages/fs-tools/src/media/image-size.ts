/** Width and height in pixels. */
export interface ImageSize {
  readonly width: number
  readonly height: number
}

/**
 * Size of a PNG, JPEG, GIF or WebP from its header. Undefined for a file that is damaged or cut off, which a model API
 * would refuse.
 */
export const imageSize = (bytes: Uint8Array, mimeType: string): ImageSize | undefined => {
  const size = readers[mimeType]?.(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined
}

const readers: Readonly<Record<string, (bytes: Buffer) => ImageSize | undefined>> = {
  "image/png": (bytes) =>
    bytes.length >= 45 && bytes.toString("latin1", 12, 16) === "IHDR" && bytes.includes("IEND", -64, "latin1")
      ? { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
      : undefined,
  "image/gif": (bytes) =>
    bytes.length >= 20 && bytes.includes(0x3b, -16)
      ? { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
      : undefined,
  "image/jpeg": (bytes) => (bytes.lastIndexOf("\xff\xd9", undefined, "latin1") > 0 ? jpegSize(bytes) : undefined),
  "image/webp": (bytes) =>
    bytes.length >= 30 && bytes.readUInt32LE(4) + 8 <= bytes.length ? webpSize(bytes) : undefined
}

// Segments follow each other until the one that starts a frame.
const jpegSize = (bytes: Buffer): ImageSize | undefined => {
  for (let at = 2; at + 9 < bytes.length;) {
    if (bytes[at] !== 0xff) return undefined
    const marker = bytes[at + 1] ?? 0
    if (marker === 0xff) {
      at++
      continue
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) }
    if (marker === 0xda || marker === 0xd9) return undefined
    at += 2 + bytes.readUInt16BE(at + 2)
  }
  return undefined
}

const webpSize = (bytes: Buffer): ImageSize | undefined => {
  const chunk = bytes.toString("latin1", 12, 16)
  if (chunk === "VP8X") return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
  if (chunk === "VP8 ") return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
  if (chunk !== "VP8L" || bytes[20] !== 0x2f) return undefined
  const packed = bytes.readUInt32LE(21)
  return { width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 }
}
