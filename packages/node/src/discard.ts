import { lstatSync, readdirSync, rmdirSync, unlinkSync } from "node:fs"

import { type Root, withResolved } from "./contain.ts"
import { ignoring, isErrno } from "./errno.ts"
import { pathOf, type Spots } from "./spots.ts"
import { below, type Technique } from "./technique.ts"

/** Removes something that a commit left under a temporary name, and everything in it. */
export const discard = (spots: Spots, path: string): void => {
  if (!unlinkIfFile(pathOf(spots.at(path)))) discardDirectory(spots.root, path)
}

const unlinkIfFile = (path: string): boolean => {
  try {
    unlinkSync(path)
    return true
  } catch (error) {
    // A disk that can't be changed says so before it looks whether there is anything to remove.
    if (isErrno(error, "ENOENT") || lstatSync(path, { throwIfNoEntry: false }) === undefined) return true
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
