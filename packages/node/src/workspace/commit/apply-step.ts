import {
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  chmodSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  type Stats,
  unlinkSync
} from "node:fs"
import { dirname } from "node:path"

import { ignoring, isErrno, isWithoutLinks, stale } from "../../errno.ts"
import { type Place, type Root, withResolved } from "../paths/containment.ts"
import { pathOf, type Spots } from "../paths/directory-entries.ts"
import { type FileIdentity, identityOf, isLastName, isSame, letGo } from "../paths/handles.ts"
import type { ImagePath } from "../undo/stored-versions.ts"
import { otherOwner } from "./owner.ts"
import type { CommitStep } from "./steps.ts"
import { isTemporaryName } from "./temporary-name.ts"

const { O_RDONLY } = constants
const O_DIRECTORY = constants.O_DIRECTORY ?? 0

/**
 * Does a step for the first time. The names themselves tell whether it can be done; what does not look as planned
 * means that somebody else changed the workspace meanwhile.
 */
export const doStep = (spots: Spots, step: CommitStep): void => {
  switch (step.do) {
    case "set_aside": {
      const asideSpot = spots.at(step.aside)
      const aside = pathOf(asideSpot)
      const path = pathOf(spots.at(step.path))
      if (!isTemporaryName(asideSpot.name) && lookAt(aside) !== undefined) throw stale(step.aside)
      const found = lookAt(path)
      if (found === undefined || !isSame(identityOf(found), step.identity)) throw stale(step.path)
      renameSync(path, aside)
      if (found.isDirectory()) spots.forget()
      return
    }
    case "make_directory": {
      const path = pathOf(spots.at(step.path))
      unlessTaken(step.path, () => makeDirectory(path))
      if (step.mode !== undefined) chmodSync(path, step.mode)
      return
    }
    case "set_mode":
      return chmodSync(pathOf(spots.at(step.path)), step.mode)
    case "put_in_place": {
      const from = pathOf(spots.at(step.from))
      const path = pathOf(spots.at(step.path))
      if (step.over === undefined) return placeNew(spots, step.path, { from, path })
      if (step.kept !== undefined) keepName(path, pathOf(spots.at(step.kept)))
      return replace(spots, step.path, { from, over: step.over })
    }
  }
}

/** Puts a file in the place of another, unless a host with a state directory of its own was quicker. */
const replace = (
  spots: Spots,
  path: string,
  { from, over }: { readonly from: string; readonly over: FileIdentity }
): void => {
  const spot = spots.at(path)
  const found = lookAt(pathOf(spot))
  if (found === undefined || !isSame(identityOf(found), over)) throw stale(path)
  if (!isLastName(found)) return renameSync(from, pathOf(spot))
  const old = unlessGone(path, () => spots.root.technique.hold(spot.directory.base, spot.name))
  try {
    renameSync(from, pathOf(spot))
  } finally {
    letGo(old)
  }
}

/** Does a step that a host which died may have done before: what is done already is passed over. */
export const redoStep = (root: Root, step: CommitStep): void => {
  switch (step.do) {
    case "set_aside":
      return withResolved(root, step.aside, (aside) => {
        if (aside.found !== undefined) return
        withResolved(root, step.path, (place) => {
          const isIt = place.found !== undefined && isSame(identityOf(place.found.stats), step.identity)
          if (isIt) renameSync(pathOf(place), pathOf(aside))
        })
      })
    case "make_directory":
      return withResolved(root, step.path, (place) => {
        if (place.found !== undefined) return
        makeDirectory(pathOf(place))
        if (step.mode !== undefined) chmodSync(pathOf(place), step.mode)
      })
    case "set_mode":
      return setModeIfThere(root, step.path, step.mode)
    case "put_in_place":
      return withResolved(root, step.from, (from) => {
        if (from.found === undefined) return
        withResolved(root, step.path, (place) => {
          if (step.over === undefined) return placeAgain(from, place)
          if (place.found === undefined || !isSame(identityOf(place.found.stats), step.over)) throw stale(step.path)
          if (step.kept !== undefined) keepFile(root, step.kept, place)
          renameSync(pathOf(from), pathOf(place))
        })
      })
  }
}

/** Takes a step back, as far as it was done. */
export const undoStep = (root: Root, step: CommitStep, imagePath: ImagePath): void => {
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
    case "set_mode":
      return setModeIfThere(root, step.path, step.before)
    case "put_in_place":
      return withResolved(root, step.from, (from) =>
        withResolved(root, step.path, (place) => undoPutInPlace(root, step, { from, place, imagePath }))
      )
  }
}

const setModeIfThere = (root: Root, path: string, mode: number): void =>
  withResolved(root, path, (place) => {
    if (place.found?.stats.isDirectory() === true) chmodSync(pathOf(place), mode)
  })

type PutInPlace = Extract<CommitStep, { readonly do: "put_in_place" }>

const undoPutInPlace = (
  root: Root,
  step: PutInPlace,
  { from, place, imagePath }: { readonly from: Place; readonly place: Place; readonly imagePath: ImagePath }
): void => {
  if (from.found !== undefined) {
    // The temporary name is still there: the step has not begun, or the file has both names for the moment.
    const hasBothNames =
      place.found !== undefined && isSame(identityOf(place.found.stats), identityOf(from.found.stats))
    if (!hasBothNames || putBack(root, step, place, imagePath)) return
    if (step.over === undefined) unlinkSync(pathOf(place))
    return
  }
  const isOurs =
    place.found !== undefined && step.identity !== undefined && isSame(identityOf(place.found.stats), step.identity)
  // A file that somebody else put there stays. Where nothing is there, an image is no proof that this step removed it: another
  // commit may have kept the same content since.
  if (!isOurs && (place.found !== undefined || step.image !== undefined)) return
  if (isOurs && step.over === undefined) return renameSync(pathOf(place), pathOf(from))
  // The file in place may have been moved here and have no other name: it gets its temporary one before it is replaced.
  if (isOurs) keepName(pathOf(place), pathOf(from))
  putBack(root, step, place, imagePath)
}

/** Gives a file that was replaced its place again, with one rename. False when none was kept. */
const putBack = (root: Root, { kept, image }: PutInPlace, place: Place, imagePath: ImagePath): boolean => {
  if (image !== undefined) return renameIfThere(imagePath(image), pathOf(place))
  return kept !== undefined && withResolved(root, kept, (keeping) => renameIfThere(pathOf(keeping), pathOf(place)))
}

const renameIfThere = (from: string, to: string): boolean => {
  try {
    renameSync(from, to)
    return true
  } catch (error) {
    if (isErrno(error, "ENOENT")) return false
    throw error
  }
}

/** Waits until the names in a directory would survive a power loss. */
export const syncDirectory = (spots: Spots, path: string): void => {
  if (process.platform === "win32") return
  const descriptor = openSync(spots.directory(path).base, O_RDONLY | O_DIRECTORY)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const lookAt = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false })

const keepName = (path: string, kept: string): void => {
  // A second name of a file that another program has open could not be removed again.
  if (process.platform === "win32") return copyFileSync(path, kept, constants.COPYFILE_EXCL)
  try {
    linkSync(path, kept)
  } catch (error) {
    if (!isWithoutLinks(error)) throw error
    copyFileSync(path, kept, constants.COPYFILE_EXCL)
  }
}

// A link fails where a rename would silently replace what somebody put there a moment ago.
const placeNew = (
  spots: Spots,
  given: string,
  { from, path }: { readonly from: string; readonly path: string }
): void => {
  try {
    unlessTaken(given, () => linkSync(from, path))
  } catch (error) {
    if (!isWithoutLinks(error)) throw error
    if (lookAt(path) !== undefined) throw stale(given)
    renameSync(from, path)
    return spots.forget()
  }
  unlinkSync(from)
}

const unlessGone = <A>(path: string, work: () => A): A => {
  try {
    return work()
  } catch (error) {
    throw isErrno(error, "ENOENT") ? stale(path) : error
  }
}

const unlessTaken = (path: string, work: () => void): void => {
  try {
    work()
  } catch (error) {
    throw isErrno(error, "EEXIST") ? stale(path) : error
  }
}

const placeAgain = (from: Place, place: Place): void => {
  if (place.found === undefined) return renameSync(pathOf(from), pathOf(place))
  if (place.found.stats.ino !== from.found?.stats.ino) throw stale(place.path)
  unlinkSync(pathOf(from))
}

/** A second name for what is about to be replaced, or a copy where there are no second names. */
const keepFile = (root: Root, kept: string, place: Place): void =>
  withResolved(root, kept, (keeping) => {
    if (keeping.found === undefined && place.found !== undefined) keepName(pathOf(place), pathOf(keeping))
  })

const makeDirectory = (path: string): void => {
  mkdirSync(path)
  const owner = otherOwner(dirname(path))
  if (owner !== undefined) lchownSync(path, owner.uid, owner.gid)
}
