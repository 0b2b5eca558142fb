import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  symlinkSync
} from "node:fs"
import { dirname } from "node:path"

import { writeFully } from "./content.ts"
import { ignoring } from "./errno.ts"
import { type Identity, identityOf } from "./identity.ts"
import { type Owner, otherOwner } from "./owner.ts"
import { pathOf, type Spots } from "./spots.ts"
import type { Staged } from "./steps.ts"

const { O_WRONLY, O_CREAT, O_EXCL, O_RDONLY } = constants
const O_NOFOLLOW = constants.O_NOFOLLOW ?? 0

/**
 * Writes a staged file or link under its temporary name. A file's descriptor is left open, to be synced; `early`
 * gets the system to begin with that at once where it can, so that many files are under way together.
 */
export const stage = (
  spots: Spots,
  { path, node }: Staged,
  { early }: { readonly early: boolean }
): { readonly descriptor: number | undefined; readonly identity: Identity } => {
  const target = pathOf(spots.at(path))
  if (node.kind !== "file") {
    symlinkSync(node.target ?? "", target)
    return { descriptor: undefined, identity: identityOf(lstatSync(target)) }
  }
  let descriptor = openSync(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666)
  try {
    // ext4 takes a file that was cut to nothing for one that is being replaced, and writes it out when it is closed.
    if (early) ftruncateSync(descriptor, 0)
    for (const piece of node.content ?? []) writeFully(descriptor, piece)
    if (early) descriptor = exchanged(descriptor, target)
    const stats = fstatSync(descriptor)
    giveTo(descriptor, stats, node.owner ?? otherOwner(dirname(target)) ?? stats)
    if (node.mode !== undefined && node.mode !== (stats.mode & 0o7777)) fchmodSync(descriptor, node.mode)
    return { descriptor, identity: identityOf(stats) }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

/** Another descriptor of the same file, with the first one closed. */
const exchanged = (descriptor: number, path: string): number => {
  const other = openSync(path, O_RDONLY | O_NOFOLLOW)
  closeSync(descriptor)
  return other
}

const giveTo = (descriptor: number, now: Owner, { uid, gid }: Owner): void => {
  if (now.uid === uid && now.gid === gid) return
  ignoring(() => fchownSync(descriptor, uid, gid), "EPERM", "ENOSYS", "EINVAL")
}
