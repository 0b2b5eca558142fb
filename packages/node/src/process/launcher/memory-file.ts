import { randomUUID } from "node:crypto"
import { constants, fchmodSync, openSync, unlinkSync } from "node:fs"
import { join } from "node:path"

import { writeFromStart } from "../../workspace/content.ts"

/** An open file without a name that holds `content`, ready to be read from its beginning. It is made in `directory`. */
export const memoryFile = (directory: string, content: string | Uint8Array): number => {
  const descriptor = openNameless(directory)
  writeFromStart(descriptor, typeof content === "string" ? Buffer.from(content) : content)
  return descriptor
}

// Nobody else comes to where it has its name for a moment: who could would write what a sandbox is made from.
const openNameless = (directory: string): number => {
  const path = join(directory, randomUUID())
  const descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600)
  unlinkSync(path)
  // Without a name it is for those who were handed it, who may run as somebody else and open it anew as /dev/stdin.
  fchmodSync(descriptor, 0o644)
  return descriptor
}
