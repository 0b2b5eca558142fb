import { constants, readFileSync } from "node:fs"

import { isErrno } from "../../errno.ts"
import { type IgnoreRules, noRules, withIgnoreFile } from "../../workspace/glob/gitignore.ts"

/** A larger `.gitignore` counts as none. */
const mostBytes = 1024 * 1024

/** Says which paths the `.gitignore` files of a workspace name, as they will be with an overlay's changes. */
export const ignoredPaths = (lower: string, upper: string): ((path: string, isDirectory?: boolean) => boolean) => {
  const rules = new Map<string, IgnoreRules | "ignored">()
  const rulesIn = (directory: string): IgnoreRules | "ignored" => {
    const known = rules.get(directory)
    if (known !== undefined) return known
    const made = directory === "" ? withFile(noRules, "") : below(directory)
    rules.set(directory, made)
    return made
  }
  const below = (directory: string): IgnoreRules | "ignored" => {
    const outer = rulesIn(parentOf(directory))
    if (outer === "ignored" || outer.ignores(directory, nameOf(directory), true)) return "ignored"
    return withFile(outer, `${directory}/`)
  }
  const withFile = (outer: IgnoreRules, prefix: string): IgnoreRules => {
    const content = read(`${upper}/${prefix}.gitignore`) ?? read(`${lower}/${prefix}.gitignore`)
    return content === undefined ? outer : withIgnoreFile(outer, prefix, content)
  }
  return (path, isDirectory = false) => {
    const outer = rulesIn(parentOf(path))
    return outer === "ignored" || outer.ignores(path, nameOf(path), isDirectory)
  }
}

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")))

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1)

const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

const read = (path: string): Buffer | undefined => {
  try {
    const content = readFileSync(path, { flag: readFlags })
    return content.length > mostBytes ? undefined : content
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR", "ELOOP", "EACCES", "EISDIR", "ENXIO", "EAGAIN")) return undefined
    throw error
  }
}
