import { createHash } from "node:crypto"
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync
} from "node:fs"
import { rm } from "node:fs/promises"
import { dirname, join } from "node:path"

import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

import { ignoring, isErrno } from "../../errno.ts"
import { leftBehind, ownName, removeQuietly } from "../../process/owner-tagged-name.ts"
import { stateDirectory } from "../../state/state-directory.ts"

/** The directories of one overlay, on the host's side. */
export interface OverlayScratch {
  readonly directory: string
  /** Has the command's files under their paths in the workspace: the upper directory, or the one around it. */
  readonly files: string
  /** Takes what the command writes. */
  readonly upper: string
  /** The kernel's own. */
  readonly work: string
  /** Change time of the upper directory when it was made, by the clock of its file system. */
  readonly since: number
}

/** The root of a workspace that commands write to. Its name begins all paths of it; it is empty for the only root. */
export interface OverlaidRoot {
  readonly path: string
  readonly name: string
}

const kind = "overlay"

/** An overlay that is over: its changes are committed, or were not wanted. */
const kindOver = "ended"

/**
 * Where the overlays or branches of a workspace have their directories: outside the workspace, and on its file system
 * where that can be, so that a commit takes files over by a rename.
 */
export const scratchBase = (root: string, state: string | undefined, name: "overlays" | "branches"): string => {
  const own = join(stateDirectory({ root, ...(state !== undefined && { state }) }), name)
  const { dev } = statSync(root)
  const parent = dirname(root)
  if (statSync(dirname(own)).dev === dev || parent === root || statSync(parent).dev !== dev || !isWritable(parent)) {
    return own
  }
  return join(parent, `.haft-${name}-${createHash("sha256").update(root).digest("hex").slice(0, 12)}`)
}

const isWritable = (directory: string): boolean => {
  try {
    accessSync(directory, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Makes the directories of an overlay. Below `files` they have the paths of the workspace, whose root may have a name. */
export const makeScratch = ({ path: root, name }: OverlaidRoot, base: string): OverlayScratch => {
  const directory = join(base, ownName(kind))
  const files = join(directory, "files")
  const [upper, work] = [join(files, name), join(directory, "work")]
  mkdirSync(name === "" ? directory : files, { recursive: true, mode: 0o700 })
  makeUpper(root, { upper, work })
  return { directory, files, upper, work, since: lstatSync(upper).ctimeMs }
}

/** Makes an upper and a work directory, the upper one as open to users as the workspace itself. */
export const makeUpper = (root: string, { upper, work }: Pick<OverlayScratch, "upper" | "work">): void => {
  for (const path of [upper, work]) mkdirSync(path, { mode: 0o700 })
  const { mode, uid, gid } = statSync(root)
  // Only root can give it to another user; a user can't give it to every group.
  ignoring(() => chownSync(upper, uid, gid), "EPERM", "EINVAL")
  chmodSync(upper, mode & 0o7777)
}

/** Removes the directories of overlays whose host died, and returns how many of them were not over. */
export const dropLeftBehind = (base: string): number => {
  const found = (of: string): ReadonlyArray<string> => {
    const names: Array<string> = []
    ignoring(() => names.push(...leftBehind(base, of)), "ENOENT")
    return names
  }
  const dropped = found(kind)
  for (const name of dropped) removeTree(join(base, name))
  for (const name of found(kindOver)) removeQuietly(join(base, name))
  return dropped.length
}

/** Removes directories of overlays while the host goes on; what is not done yet is waited for when the scope ends. */
export const scratchRemover: Effect.Effect<(scratch: OverlayScratch) => void, never, Scope.Scope> = Effect.gen(
  function* () {
    const pending = new Set<Promise<void>>()
    yield* Effect.addFinalizer(() => Effect.promise(() => Promise.all(pending)))
    return ({ directory }) => {
      const over = join(dirname(directory), ownName(kindOver))
      renameSync(directory, over)
      const removal = rm(over, { recursive: true, force: true })
        .catch(() => removeTree(over))
        // The next host tries again.
        .catch(() => undefined)
        .finally(() => pending.delete(removal))
      pending.add(removal)
    }
  }
)

/** Removes a tree of this user's own, whatever the permissions in it say. */
export const removeTree = (path: string): void => {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch (error) {
    if (!isErrno(error, "EACCES", "EPERM", "ENOTEMPTY")) throw error
    openAll(path)
    rmSync(path, { recursive: true, force: true })
  }
}

const openAll = (directory: string): void => {
  chmodSync(directory, 0o700)
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (entry.isDirectory()) openAll(join(directory, entry.name))
  }
}
