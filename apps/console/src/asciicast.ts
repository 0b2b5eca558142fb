export type CastEvent =
  | { readonly type: "size"; readonly cols: number; readonly rows: number }
  | { readonly type: "output"; readonly text: string }

/** Reads an asciicast (version 2) piece by piece, as it grows: a line that is not whole yet waits for its end. */
export class CastReader {
  readonly #decoder = new TextDecoder()
  #rest = ""

  read(bytes: Uint8Array): ReadonlyArray<CastEvent> {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split("\n")
    this.#rest = lines.pop() ?? ""
    return lines.flatMap(eventIn)
  }
}

const eventIn = (line: string): ReadonlyArray<CastEvent> => {
  const value = parsed(line)
  if (Array.isArray(value)) {
    const [, code, data] = value as ReadonlyArray<unknown>
    if (typeof data !== "string") return []
    if (code === "o") return [{ type: "output", text: data }]
    const size = code === "r" ? /^(\d+)x(\d+)$/.exec(data) : null
    return size === null ? [] : [{ type: "size", cols: Number(size[1]), rows: Number(size[2]) }]
  }
  const header = value as { readonly width?: unknown; readonly height?: unknown } | undefined
  const { width, height } = header ?? {}
  return typeof width === "number" && typeof height === "number" ? [{ type: "size", cols: width, rows: height }] : []
}

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line) as unknown
  } catch {
    return undefined
  }
}
