import { accessSync, constants } from "node:fs"

/** Tests whether this user may execute the file. */
export const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
