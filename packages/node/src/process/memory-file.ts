import { randomUUID } from "node:crypto"
import { constants, fchmodSync, openSync, unlinkSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** An open file without a name that holds `content`, ready to be read from its beginning. */
export const memoryFile = (content: string | Uint8Array): number => {
  const descriptor = openNameless()
  const bytes = typeof content === "string" ? Buffer.from(content) : content
  // Written by position: the descriptor itself stays at the beginning.
  let at = 0
  while (at < bytes.length) at += writeSync(descriptor, bytes, at, bytes.length - at, at)
  return descriptor
}

const openNameless = (): number => {
  const path = join(tmpdir(), `haft-${randomUUID()}`)
  const descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600)
  unlinkSync(path)
  // Without a name it is for those who were handed it, who may run as somebody else and open it anew as /dev/stdin.
  fchmodSync(descriptor, 0o644)
  return descriptor
}
