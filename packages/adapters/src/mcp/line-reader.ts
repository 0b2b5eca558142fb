import { type JsonExcess, type JsonLimits, JsonScanner } from "@haft/core/internal"

/** A line beyond the limits. It was skipped, and never in memory as a whole. */
export interface RefusedLine {
  readonly excess: JsonExcess
  /** The message's own fields without what is nested in them; undefined if they could not be told apart. */
  readonly outline: Readonly<Record<string, unknown>> | undefined
}

export interface LineReaderOptions {
  readonly limits: JsonLimits
  readonly onLine: (line: string) => void
  readonly onRefused: (line: RefusedLine) => void
}

/** Splits the chunks of a stream into lines. A line beyond the limits is skipped; those after it are read. */
export const lineReader = ({ limits, onLine, onRefused }: LineReaderOptions): ((chunk: Buffer) => void) => {
  let begun: Array<Buffer> = []
  let scanner = new JsonScanner(limits)
  const take = (part: Buffer): void => {
    if (scanner.push(part) === undefined) begun.push(part)
    else begun = []
  }
  const end = (): void => {
    const { excess } = scanner
    const [first] = begun
    const line = first !== undefined && begun.length === 1 ? first : Buffer.concat(begun)
    const ended = scanner
    begun = []
    scanner = new JsonScanner(limits)
    if (excess === undefined) onLine(line.toString())
    else onRefused({ excess, outline: ended.outline() })
  }
  return (chunk) => {
    let start = 0
    for (let newline = chunk.indexOf(10); newline >= 0; newline = chunk.indexOf(10, start)) {
      take(chunk.subarray(start, newline))
      start = newline + 1
      end()
    }
    if (start < chunk.length) take(chunk.subarray(start))
  }
}
