// Characters that a person does not see and a model reads: bidirectional controls, zero-width and tag characters, other
// invisible ones, and control characters. Joiners stay between letters and within emoji, where writing needs them.
const hidden =
  /(?![\n\t])\p{Cc}|[\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\u00AD\u115F\u1160\u180E\u3164\uFFA0\u{E0000}-\u{E0FFF}]|\u034F|\u17B4|\u17B5|(?<![\p{L}\p{M}\p{ExtPict}\uFE0F\p{EMod}])[\u200C\u200D]|[\u200C\u200D](?![\p{L}\p{M}\p{ExtPict}])|(?<![\p{ExtPict}\p{EMod}\d#*])[\uFE00-\uFE0F]/gu

/** Text of the web without characters that nobody sees, and how many there were. */
export const withoutHidden = (text: string): { readonly text: string; readonly removed: number } => {
  let removed = 0
  const visible = text.replaceAll("\r\n", "\n").replace(hidden, () => {
    removed++
    return ""
  })
  return { text: visible, removed }
}
