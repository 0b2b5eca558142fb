import { statSync } from "node:fs"

/** A user of the machine. */
export interface Owner {
  readonly uid: number
  readonly gid: number
}

/**
 * Owner of a directory where that is another user than the host's, and the host may act for them: root does. What
 * it makes there is theirs, and what runs there runs as them.
 */
export const otherOwner = (directory: string): Owner | undefined => {
  if (process.getuid?.() !== 0) return undefined
  const { uid = 0, gid = 0 } = statSync(directory, { throwIfNoEntry: false }) ?? {}
  return uid === 0 ? undefined : { uid, gid }
}
