import { accessSync, constants } from "node:fs"

/** Whether this user may execute what is there. */
export const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
