/** Something a terminal shows: a new size, or output. `isLive` output may be dropped if there is too much. */
export type TerminalEvent =
  | { readonly type: "size"; readonly cols: number; readonly rows: number }
  | { readonly type: "output"; readonly data: string | Uint8Array; readonly isLive?: boolean }

/** The events of an asciicast file (version 2). Lines that can't be read are left out, such as a last one cut short. */
export const eventsIn = (text: string): ReadonlyArray<TerminalEvent> => text.split("\n").flatMap(eventIn)

const eventIn = (line: string): ReadonlyArray<TerminalEvent> => {
  const value = parsed(line)
  if (Array.isArray(value)) {
    const [, code, data] = value as ReadonlyArray<unknown>
    if (typeof data !== "string") return []
    if (code === "o") return [{ type: "output", data }]
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
