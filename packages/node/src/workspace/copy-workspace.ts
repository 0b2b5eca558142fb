import { constants, existsSync, lstatSync, readdirSync } from "node:fs"
import { cp } from "node:fs/promises"
import { join } from "node:path"

/**
 * Copies a workspace, and of its state what it takes to go back in time and to judge calls: history and rules. Both
 * directories must be empty, or not there. Links are copied as links; sockets, pipes and devices are left out.
 */
export const copyWorkspace = async (
  from: { readonly root: string; readonly state: string },
  to: { readonly root: string; readonly state: string }
): Promise<void> => {
  for (const directory of [to.root, to.state]) {
    if (existsSync(directory) && readdirSync(directory).length > 0) throw new Error(`${directory} is not empty`)
  }
  await copyTree(from.root, to.root)
  for (const name of ["history", "rules.json"]) {
    if (existsSync(join(from.state, name))) await copyTree(join(from.state, name), join(to.state, name))
  }
}

const copyTree = (from: string, to: string): Promise<void> =>
  cp(from, to, {
    recursive: true,
    verbatimSymlinks: true,
    preserveTimestamps: true,
    mode: constants.COPYFILE_FICLONE,
    filter: (source) => {
      const kind = lstatSync(source)
      return kind.isDirectory() || kind.isFile() || kind.isSymbolicLink()
    }
  })
