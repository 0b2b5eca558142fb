import { realpathSync } from "node:fs"
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path"

import { isErrno } from "./errno.ts"

/** Whether a path is the directory or lies in it, whatever links lead to either of them. */
export const liesWithin = (directory: string, path: string): boolean => {
  const way = relative(realPathOf(resolve(directory)), realPathOf(resolve(path)))
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

// Of something that may not exist yet: links in the part that does are resolved.
const realPathOf = (path: string): string => {
  try {
    return realpathSync(path)
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error
    return join(realPathOf(dirname(path)), basename(path))
  }
}
