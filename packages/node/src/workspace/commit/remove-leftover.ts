import { lstatSync, readdirSync, rmdirSync, unlinkSync } from "node:fs"

import { ignoring, isErrno } from "../../errno.ts"
import { type Root, withResolved } from "../paths/containment.ts"
import { pathOf, type Spot, type Spots } from "../paths/directory-entries.ts"
import { below, type Held, isLastName, letGo, type Technique } from "../paths/handles.ts"
import { atOnce, type Work } from "../turns.ts"

/** Removes something that a commit left under a temporary name, and everything in it. */
export const discard = (spots: Spots, path: string): Work => remove(spots, path, letGo)

/** Removes it in one go, with the room that it took free again at once: a disk may be full of it. */
export const discardAtOnce = (spots: Spots, path: string): void => atOnce(remove(spots, path, (held) => held.close()))

function* remove(spots: Spots, path: string, free: (held: Held) => void): Work {
  const spot = spots.at(path)
  const found = lstatSync(pathOf(spot), { throwIfNoEntry: false })
  if (found === undefined) return
  // Removing a name is quick, but freeing the content of a file with no other name is not. As long as the file is held,
  // it is not freed: `free` says when.
  const held = isLastName(found) ? holdIfThere(spots.root, spot) : undefined
  try {
    if (!unlinkIfFile(pathOf(spot))) yield* discardDirectory(spots.root, path)
  } finally {
    if (held !== undefined) free(held)
  }
}

const holdIfThere = ({ technique }: Root, { directory, name }: Spot): Held | undefined => {
  try {
    return technique.hold(directory.base, name)
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined
    throw error
  }
}

const unlinkIfFile = (path: string): boolean => {
  try {
    unlinkSync(path)
    return true
  } catch (error) {
    if (isErrno(error, "ENOENT")) return true
    // Systems differ in how they refuse to unlink a directory.
    if (isErrno(error, "EISDIR", "EPERM")) return false
    throw error
  }
}

function* discardDirectory(root: Root, path: string): Work {
  const held = withResolved(root, path, ({ found, ...place }) => {
    if (found === undefined) return undefined
    if (found.stats.isDirectory()) return root.technique.enter(place.directory.base, place.name)
    ignoring(() => unlinkSync(pathOf(place)), "ENOENT")
    return undefined
  })
  if (held === undefined) return
  try {
    yield* emptyDirectory(root.technique, held.base)
  } finally {
    held.close()
  }
  withResolved(root, path, (place) => rmdirSync(pathOf(place)))
}

function* emptyDirectory(technique: Technique, directory: string): Work {
  for (const name of readdirSync(directory, { encoding: "buffer" })) {
    const path = below(directory, name)
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) {
      ignoring(() => unlinkSync(path), "ENOENT")
      yield
      continue
    }
    const held = technique.enter(directory, name)
    try {
      yield* emptyDirectory(technique, held.base)
    } finally {
      held.close()
    }
    rmdirSync(path)
  }
}
