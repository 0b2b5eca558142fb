import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join, relative, sep } from "node:path"

/**
 * All files below a directory, by their path with slashes; undefined when there is no such directory. They are read
 * once, so that nothing a request says can lead to any other file.
 */
export const readSite = (directory: string): ReadonlyMap<string, Uint8Array> | undefined => {
  if (!existsSync(directory)) return undefined
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return new Map(
    files.map((entry) => {
      const file = join(entry.parentPath, entry.name)
      return [relative(directory, file).split(sep).join("/"), readFileSync(file)]
    })
  )
}
