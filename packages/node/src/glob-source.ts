import { closeSync } from "node:fs"

import { type Root, withPlace } from "./contain.ts"
import { openFile, readWhole } from "./content.ts"
import type { GlobSource } from "./glob.ts"
import type { Held } from "./technique.ts"
import { readEntries } from "./walk.ts"

/** A larger `.gitignore` counts as none. */
const maximumIgnoreFile = 1024 * 1024

/**
 * Directories and ignore files below a root. Links are refused on every step of the way: a glob only asks for
 * directories it has seen as such. fast-glob goes from sister to sister, so their parent is kept open meanwhile.
 */
export const openGlobSource = (root: Root): GlobSource & { readonly close: () => void } => {
  let parent: { readonly path: string; readonly held: Held } | undefined
  const close = (): void => {
    parent?.held.close()
    parent = undefined
  }
  const parentAt = (path: string): Held => {
    if (parent?.path === path) return parent.held
    const held = holdDirectory(root, path)
    close()
    parent = { path, held }
    return held
  }
  return {
    close,
    list: (path) => {
      const cut = path.lastIndexOf("/")
      const held =
        cut < 0
          ? holdDirectory(root, path)
          : root.technique.enter(parentAt(path.slice(0, cut)).base, path.slice(cut + 1))
      try {
        return readEntries(held.base)
      } finally {
        held.close()
      }
    },
    read: (path) => readIgnoreFile(root, path)
  }
}

const holdDirectory = (root: Root, path: string): Held =>
  withPlace(root, path, { symlinks: "deny" }, ({ directory, name }) =>
    root.technique.enter(directory.base, name === "" ? "." : name)
  )

const readIgnoreFile = (root: Root, path: string): Uint8Array | undefined =>
  withPlace(root, path, { symlinks: "deny", follow: false }, (place) => {
    const stats = place.found?.stats
    if (stats?.isFile() !== true || stats.size > maximumIgnoreFile) return undefined
    const descriptor = openFile(root, place)
    try {
      return readWhole(descriptor, { given: path, size: stats.size, maxBytes: maximumIgnoreFile })
    } finally {
      closeSync(descriptor)
    }
  })
