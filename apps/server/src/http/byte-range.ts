/** The two numbers of a Range header, as text: one of them is "" in `bytes=100-` and in `bytes=-50`. */
export type AskedRange = readonly [from: string, to: string]

/**
 * The range that a request asks for, as `bytes=0-99`, `bytes=100-` or `bytes=-50`. Undefined for the whole file:
 * without a Range header, with several ranges or one that can't be read, or with If-Range, as this server names no
 * versions.
 */
export const askedRange = (request: Request): AskedRange | undefined => {
  const match = /^bytes=(?:(\d+)-(\d*)|-(\d+))$/i.exec((request.headers.get("range") ?? "").trim())
  if (match === null || request.method !== "GET" || request.headers.has("if-range")) return undefined
  const [, from = "", to = "", last = ""] = match
  if (from !== "" && to !== "" && Number(from) > Number(to)) return undefined
  return [from, from === "" ? last : to]
}

/** The first and the last byte of a range in a file of this size; undefined when it lies outside. */
export const rangeOf = (
  [from, to]: AskedRange,
  size: number
): { readonly start: number; readonly end: number } | undefined => {
  const start = from === "" ? Math.max(0, size - Number(to)) : Number(from)
  const end = from === "" || to === "" ? size - 1 : Math.min(Number(to), size - 1)
  return start <= end && start < size ? { start, end } : undefined
}
