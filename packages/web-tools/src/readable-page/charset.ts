/** Text from bytes: by the charset the header names, else the byte order mark, else what the document says of itself. */
export const decodeText = (bytes: Uint8Array, contentType: string): string => {
  const named = charsetOf(contentType)
  const mark = markOf(bytes)
  // UTF-16 without a byte order leaves that to the mark.
  const header = /^utf-16$/i.test(named ?? "") ? (mark ?? named) : named
  const label = [header, mark, isMarkup(contentType) ? declaredIn(bytes) : undefined].find(isKnown)
  if (label !== undefined) return new TextDecoder(label).decode(bytes)
  return isUtf8(bytes) ? new TextDecoder().decode(bytes) : new TextDecoder("windows-1252").decode(bytes)
}

/** The `charset` parameter of a content type. */
const charsetOf = (contentType: string): string | undefined =>
  /;\s*charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;]+))/i.exec(contentType)?.slice(1).find(Boolean)

/** Only a document with tags, or of unknown type, speaks of itself; plain text may speak of documents. */
const isMarkup = (contentType: string): boolean =>
  /html|xml|octet-stream|^$/i.test((contentType.split(";")[0] ?? "").trim())

const markOf = ([first, second, third]: Uint8Array): string | undefined => {
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8"
  if (first === 0xfe && second === 0xff) return "utf-16be"
  return first === 0xff && second === 0xfe ? "utf-16le" : undefined
}

/** `<meta charset>`, its older form, or an XML declaration, within the first kilobyte or two. */
const declaredIn = (bytes: Uint8Array): string | undefined => {
  const start = Buffer.from(bytes.subarray(0, 2048)).toString("latin1")
  const declared =
    /^\s*<\?xml[^>]*\bencoding\s*=\s*["']([\w-]+)/i.exec(start)?.[1] ??
    /<meta\b[^>]{0,500}?\bcharset\s*=\s*["']?\s*([\w-]+)/i.exec(start)?.[1]
  // A document that could be read this far is not UTF-16, whatever it says.
  return declared?.toLowerCase().startsWith("utf-16") === true ? "utf-8" : declared
}

const isKnown = (label: string | undefined): label is string => {
  if (label === undefined) return false
  try {
    return new TextDecoder(label).encoding !== ""
  } catch {
    return false
  }
}

const isUtf8 = (bytes: Uint8Array): boolean => {
  try {
    // The last character may have been cut by a size limit.
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}
