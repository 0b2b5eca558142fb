import { closeSync, constants, createReadStream, fstatSync, openSync } from "node:fs"
import { join } from "node:path"
import { Readable } from "node:stream"

import { artifactName } from "./artifacts.ts"

/** A kept file, ready to be read in part. */
export interface OpenArtifact {
  readonly size: number
  /** The bytes from `start` to `end`, both included; the file is closed when they have been read or given up. */
  readonly stream: (range: { readonly start: number; readonly end: number }) => ReadableStream<Uint8Array>
  readonly close: () => void
}

/** Opens an artifact of any run; undefined when there is none, or when the name could not be one. */
export const openArtifact = ({
  directory,
  run,
  path
}: {
  readonly directory: string
  readonly run: string
  readonly path: string
}): OpenArtifact | undefined => {
  if (!/^[\w-]+$/.test(run)) return undefined
  try {
    const file = join(directory, "runs", run, artifactName(path))
    const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) {
      closeSync(descriptor)
      return undefined
    }
    return {
      size: stats.size,
      stream: ({ start, end }) =>
        Readable.toWeb(createReadStream(file, { fd: descriptor, start, end })) as ReadableStream<Uint8Array>,
      close: () => closeSync(descriptor)
    }
  } catch {
    return undefined
  }
}
