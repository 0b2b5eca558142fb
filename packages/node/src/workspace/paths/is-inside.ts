import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path"

import { isErrno } from "../../errno.ts"
import { canonicalPath } from "./name-on-disk.ts"

/**
 * Tests whether a path is the directory or lies in it, whatever links lead to either of them; also where it leads out of the
 * directory again, since whoever can write there can make it lead elsewhere.
 */
export const liesWithin = (directory: string, path: string): boolean => {
  const real = realPathOf(resolve(directory))
  for (let at = resolve(path), below = ""; at !== below; below = at, at = dirname(at)) {
    const way = relative(real, realPathOf(at))
    if (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way)) return true
  }
  return false
}

// Of something that may not exist yet: links in the part that does are resolved.
const realPathOf = (path: string): string => {
  try {
    return canonicalPath(path)
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error
    return join(realPathOf(dirname(path)), basename(path))
  }
}
