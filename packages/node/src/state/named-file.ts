import { createReadStream } from "node:fs"

const mostBytes = 256 * 2 ** 20

/** A file that a person named outright, such as one on a command line. Nothing that an agent says leads here. */
export const readNamedFile = (path: string): Promise<string> =>
  readWhole(createReadStream(path)).catch((cause: NodeJS.ErrnoException) => {
    const reason = reasons[cause.code ?? ""]
    throw reason === undefined ? cause : new Error(reason, { cause })
  })

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EISDIR: "it is a directory",
  EACCES: "its permissions do not allow it"
}

/** All that a stream has to say, without a byte order mark; an error where that has no end. */
export const readWhole = async (stream: AsyncIterable<unknown>): Promise<string> => {
  const chunks: Array<Buffer> = []
  let bytes = 0
  for await (const chunk of stream) {
    chunks.push(chunk as Buffer)
    bytes += (chunk as Buffer).length
    if (bytes > mostBytes) throw new Error(`it has more than ${mostBytes} bytes`)
  }
  return new TextDecoder().decode(Buffer.concat(chunks))
}
