import { existsSync, statSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, join, resolve } from "node:path"

import { liesWithin } from "../workspace/paths/is-inside.ts"
import { canonicalPath } from "../workspace/paths/name-on-disk.ts"
import { defaultStateDirectory } from "./state-directory.ts"

/**
 * The workspace that a directory belongs to: the nearest directory upwards that holds one of the `marks`, such as a
 * configuration, or that haft keeps state for. The directory itself where there is none. The home directory and what is
 * above it are too wide to be found by accident, and a directory of another user could be a trap: neither counts.
 */
export const nearestRoot = (from: string, marks: ReadonlyArray<string>): string => {
  const start = canonicalPath(resolve(from))
  const home = resolve(homedir())
  const owner = statSync(start).uid
  for (let directory = start; ; directory = dirname(directory)) {
    const isTooWide = directory !== start && (liesWithin(directory, home) || directory === dirname(directory))
    if (isTooWide || statSync(directory).uid !== owner) return start
    const isMarked = marks.some((mark) => existsSync(join(directory, mark)))
    if (isMarked || existsSync(defaultStateDirectory(directory))) return directory
    if (directory === dirname(directory)) return start
  }
}
