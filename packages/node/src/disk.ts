import {
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync
} from "node:fs"

import { type Place, type Root, type Spot, withResolved, withSpot } from "./contain.ts"
import { chunksOf, openFile, writeFully } from "./content.ts"
import { isErrno } from "./errno.ts"
import { type Identity, identityOf, isSame } from "./identity.ts"
import { stale } from "./plan.ts"
import type { Staged, Step } from "./steps.ts"
import { below, type Technique } from "./technique.ts"

const { O_WRONLY, O_CREAT, O_EXCL, O_RDONLY } = constants
const O_NOFOLLOW = constants.O_NOFOLLOW ?? 0
const O_DIRECTORY = constants.O_DIRECTORY ?? 0

/** Writes a staged file or link under its temporary name. A file's descriptor is left open, to be synced. */
export const stage = (
  root: Root,
  { path, node }: Staged
): { readonly descriptor: number | undefined; readonly identity: Identity } =>
  withSpot(root, path, (spot) => {
    const target = pathOf(spot)
    if (node.kind !== "file") {
      symlinkSync(node.target ?? "", target)
      return { descriptor: undefined, identity: identityOf(lstatSync(target)) }
    }
    const descriptor = openSync(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666)
    try {
      for (const piece of node.content ?? []) writeFully(descriptor, piece)
      if (node.owner !== undefined) giveTo(descriptor, node.owner)
      const stats = fstatSync(descriptor)
      if (node.mode !== undefined && node.mode !== (stats.mode & 0o7777)) fchmodSync(descriptor, node.mode)
      return { descriptor, identity: identityOf(stats) }
    } catch (error) {
      closeSync(descriptor)
      throw error
    }
  })

/**
 * Does a step. `again` is for steps that a host which died may have done before: what is done already is
 * passed over, where the first time it means that somebody else changed the workspace meanwhile.
 */
export const doStep = (root: Root, step: Step, { again }: { readonly again: boolean }): void => {
  switch (step.do) {
    case "set_aside":
      return withResolved(root, step.aside, (aside) => {
        if (aside.found !== undefined && again) return
        if (aside.found !== undefined) throw stale(aside.path)
        withResolved(root, step.path, (place) => {
          const isIt = place.found !== undefined && isSame(identityOf(place.found.stats), step.identity)
          if (isIt) renameSync(pathOf(place), pathOf(aside))
          else if (!again) throw stale(step.path)
        })
      })
    case "make_directory":
      return withResolved(root, step.path, (place) => {
        if (place.found !== undefined && again) return
        if (place.found !== undefined) throw stale(step.path)
        mkdirSync(pathOf(place))
        if (step.mode !== undefined) chmodSync(pathOf(place), step.mode)
      })
    case "put_in_place":
      if (step.replaces && !again) return replace(root, step)
      return withResolved(root, step.from, (from) => {
        if (from.found === undefined && again) return
        withResolved(root, step.path, (place) => {
          if (!step.replaces) return placeNew(from, place, again)
          if (step.kept !== undefined) keepFile(root, step.kept, place)
          renameSync(pathOf(from), pathOf(place))
        })
      })
    case "overwrite":
      return withResolved(root, step.from, (from) => {
        if (from.found === undefined && again) return
        withResolved(root, step.path, (place) => {
          copyFile(root, step.kept, place)
          overwrite(root, from, place)
          unlinkSync(pathOf(from))
        })
      })
  }
}

/** Takes a step back, as far as it was done. */
export const undoStep = (root: Root, step: Step): void => {
  switch (step.do) {
    case "set_aside":
      return withResolved(root, step.aside, (aside) => {
        if (aside.found === undefined) return
        withResolved(root, step.path, (place) => {
          if (place.found === undefined) renameSync(pathOf(aside), pathOf(place))
        })
      })
    case "make_directory":
      return withResolved(root, step.path, (place) => {
        if (place.found !== undefined) ignoring(() => rmdirSync(pathOf(place)), "ENOTEMPTY", "EEXIST", "ENOTDIR")
      })
    case "put_in_place":
      return withResolved(root, step.from, (from) => {
        if (from.found !== undefined) return
        if (step.kept !== undefined) {
          return withResolved(root, step.kept, (kept) => {
            if (kept.found === undefined) return
            withResolved(root, step.path, (place) => renameSync(pathOf(kept), pathOf(place)))
          })
        }
        withResolved(root, step.path, (place) => {
          const isIt =
            place.found !== undefined &&
            step.identity !== undefined &&
            isSame(identityOf(place.found.stats), step.identity)
          if (isIt) renameSync(pathOf(place), pathOf(from))
        })
      })
    case "overwrite":
      return withResolved(root, step.kept, (kept) => {
        if (kept.found !== undefined) withResolved(root, step.path, (place) => overwrite(root, kept, place))
      })
  }
}

/** Removes something that a commit left under a temporary name, and everything in it. */
export const discard = (root: Root, path: string): void => {
  const isGone = withSpot(root, path, (spot) => unlinkIfFile(pathOf(spot)))
  if (!isGone) discardDirectory(root, path)
}

const unlinkIfFile = (path: string): boolean => {
  try {
    unlinkSync(path)
    return true
  } catch (error) {
    if (isErrno(error, "ENOENT")) return true
    // What unlinking a directory is called differs between systems.
    if (isErrno(error, "EISDIR", "EPERM")) return false
    throw error
  }
}

const discardDirectory = (root: Root, path: string): void =>
  withResolved(root, path, (place) => {
    if (place.found === undefined) return
    if (!place.found.stats.isDirectory()) return ignoring(() => unlinkSync(pathOf(place)), "ENOENT")
    emptyDirectory(root.technique, place.found.base)
    rmdirSync(pathOf(place))
  })

/** Waits until the names in a directory would survive a power loss. */
export const syncDirectory = (root: Root, path: string): void => {
  if (process.platform === "win32") return
  withResolved(root, path, ({ found }) => {
    if (found === undefined) return
    const descriptor = openSync(found.base, O_RDONLY | O_DIRECTORY)
    try {
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  })
}

const pathOf = ({ directory, name }: Spot): string => `${directory.base}/${name}`

/** The first time, a replacement needs no look at what is there: the names themselves say what is missing. */
const replace = (root: Root, { from, path, kept }: Extract<Step, { readonly do: "put_in_place" }>): void =>
  withSpot(root, from, (source) =>
    withSpot(root, path, (target) => {
      if (kept !== undefined) withSpot(root, kept, (keeping) => keepName(pathOf(target), pathOf(keeping)))
      renameSync(pathOf(source), pathOf(target))
    })
  )

const keepName = (path: string, kept: string): void => {
  try {
    linkSync(path, kept)
  } catch (error) {
    if (!isErrno(error, "EPERM", "ENOTSUP", "ENOSYS", "EMLINK")) throw error
    copyFileSync(path, kept, constants.COPYFILE_EXCL)
  }
}

// A link fails where a rename would silently replace what somebody put there a moment ago.
const placeNew = (from: Place, place: Place, again: boolean): void => {
  if (from.found?.stats.isFile() !== true) {
    if (place.found !== undefined) throw stale(place.path)
    return renameSync(pathOf(from), pathOf(place))
  }
  try {
    linkSync(pathOf(from), pathOf(place))
  } catch (error) {
    if (isErrno(error, "EPERM", "ENOTSUP", "ENOSYS", "EMLINK")) return renameSync(pathOf(from), pathOf(place))
    if (!isErrno(error, "EEXIST")) throw error
    if (!again) throw stale(place.path)
    if (lstatSync(pathOf(place)).ino !== from.found.stats.ino) return renameSync(pathOf(from), pathOf(place))
  }
  unlinkSync(pathOf(from))
}

/** A second name for what is about to be replaced, or a copy where there are no second names. */
const keepFile = (root: Root, kept: string, place: Place): void =>
  withResolved(root, kept, (keeping) => {
    if (keeping.found === undefined && place.found !== undefined) keepName(pathOf(place), pathOf(keeping))
  })

const copyFile = (root: Root, kept: string, place: Place): void =>
  withResolved(root, kept, (keeping) => {
    if (keeping.found !== undefined || place.found === undefined) return
    copyFileSync(place.found.base, pathOf(keeping), constants.COPYFILE_EXCL)
  })

const overwrite = (root: Root, from: Place, place: Place): void => {
  if (place.found === undefined || from.found === undefined) throw stale(place.path)
  const source = openFile(root, from)
  try {
    const target = root.technique.open(place.found, O_WRONLY)
    try {
      let size = 0
      for (const chunk of chunksOf(source)) {
        writeFully(target, chunk)
        size += chunk.length
      }
      ftruncateSync(target, size)
      fchmodSync(target, from.found.stats.mode & 0o7777)
      fsyncSync(target)
    } finally {
      closeSync(target)
    }
  } finally {
    closeSync(source)
  }
}

const giveTo = (descriptor: number, { uid, gid }: { readonly uid: number; readonly gid: number }): void => {
  if (process.getuid?.() === uid && process.getgid?.() === gid) return
  ignoring(() => fchownSync(descriptor, uid, gid), "EPERM", "ENOSYS", "EINVAL")
}

const emptyDirectory = (technique: Technique, directory: string): void => {
  for (const name of readdirSync(directory, { encoding: "buffer" })) {
    const path = below(directory, name)
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) {
      ignoring(() => unlinkSync(path), "ENOENT")
      continue
    }
    const held = technique.enter(directory, name)
    try {
      emptyDirectory(technique, held.base)
    } finally {
      held.close()
    }
    rmdirSync(path)
  }
}

const ignoring = (work: () => void, ...names: ReadonlyArray<string>): void => {
  try {
    work()
  } catch (error) {
    if (!isErrno(error, ...names)) throw error
  }
}
