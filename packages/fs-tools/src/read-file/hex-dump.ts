/** Bytes as people read them: offset, sixteen bytes in hex, the same as characters. */
export const hexDump = (bytes: Uint8Array): string => {
  const rows: Array<string> = []
  for (let at = 0; at < bytes.length; at += 16) {
    const row = bytes.subarray(at, at + 16)
    const hex = Array.from(row, (byte) => byte.toString(16).padStart(2, "0")).join(" ")
    const characters = Array.from(row, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".")).join(
      ""
    )
    rows.push(`${at.toString(16).padStart(8, "0")}  ${hex.padEnd(47)}  |${characters}|`)
  }
  return rows.join("\n")
}
