import { closeSync, constants } from "node:fs"

import { isAboutPath } from "../../errno.ts"
import { readDescriptor } from "../content.ts"
import { type Root, withResolved } from "../paths/containment.ts"
import type { Held } from "../paths/handles.ts"
import { startWalk } from "../walk.ts"
import type { GlobSource } from "./glob.ts"

/** A larger `.gitignore` counts as none. */
const maximumIgnoreFile = 1024 * 1024

/** Directories and ignore files below a root. Links are refused on every step of the way. */
export const globSource = (root: Root): GlobSource => ({
  shared: root.reads.shared,
  walk: (start, visitor) => startWalk(root, start, visitor),
  isThere: (path) => orUndefined(() => withResolved(root, path, ({ found }) => found)) !== undefined,
  read: (directory, name) => orUndefined(() => readIn(root, directory, name)),
  readAt: (directory, name) =>
    orUndefined(() =>
      withResolved(root, directory, ({ found }) => (found === undefined ? undefined : readIn(root, found, name)))
    )
})

/** Entries that vanished meanwhile, were exchanged or can't be read are left out. */
const orUndefined = <A>(look: () => A): A | undefined => {
  try {
    return look()
  } catch (error) {
    if (isAboutPath(error)) return undefined
    throw error
  }
}

const readIn = ({ technique }: Root, directory: Held, name: string): Uint8Array | undefined => {
  const held = technique.hold(directory.base, name)
  try {
    const { size } = held.stats
    if (!held.stats.isFile() || size > maximumIgnoreFile) return undefined
    const descriptor = technique.open(held, constants.O_RDONLY)
    try {
      return readDescriptor(descriptor, { given: name, size, maxBytes: maximumIgnoreFile })
    } finally {
      closeSync(descriptor)
    }
  } finally {
    held.close()
  }
}
