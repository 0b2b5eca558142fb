export interface LineReaderOptions {
  /** In bytes. */
  readonly longestLine: number
  readonly onLine: (line: string) => void
  readonly onTooLong: () => void
}

/** Takes the chunks of a stream, and calls `onLine` for every line. */
export const lineReader = ({ longestLine, onLine, onTooLong }: LineReaderOptions): ((chunk: Buffer) => void) => {
  let begun: Array<Buffer> = []
  let size = 0
  return (chunk) => {
    let start = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const rest = chunk.subarray(start, end)
      const line = begun.length === 0 ? rest : Buffer.concat([...begun, rest])
      begun = []
      size = 0
      start = end + 1
      onLine(line.toString())
    }
    if (start === chunk.length) return
    begun.push(chunk.subarray(start))
    size += chunk.length - start
    if (size <= longestLine) return
    begun = []
    size = 0
    onTooLong()
  }
}
