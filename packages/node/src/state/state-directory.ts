import { createHash } from "node:crypto"
import { chmodSync, existsSync, mkdirSync, statSync } from "node:fs"
import { homedir } from "node:os"
import { basename, dirname, isAbsolute, join, resolve } from "node:path"

import { isToolError, makeToolError, reasonOf, type ToolErrorOptions } from "@haft/core"

import { branchState } from "../branches/branch-file.ts"
import { isErrno, notADirectory } from "../errno.ts"
import { liesWithin } from "../workspace/paths/is-inside.ts"
import { canonicalPath } from "../workspace/paths/name-on-disk.ts"
import { openRootPath } from "../workspace/paths/open-roots.ts"
import { checkStateFormat } from "./state-format.ts"

/**
 * Where haft keeps what belongs to a workspace but must not be reachable from it: history, records,
 * artifacts, rules. `$XDG_STATE_HOME/haft/<workspace id>`, on Windows `%LOCALAPPDATA%\haft\<workspace id>`, unless a
 * directory is given. Nobody else may
 * read it, and it never lies inside the workspace.
 */
export const stateDirectory = (options: { readonly root: string; readonly state?: string }): string => {
  const root = workspaceDirectory(options.root)
  const directory = resolve(branchState(root) ?? options.state ?? defaultStateDirectory(root))
  const elsewhere = {
    suggestion: "Set `state` to a directory outside the workspace that can be written to.",
    details: { settings: ["state"] }
  }
  return usable(`the state directory ${directory}`, elsewhere, () => {
    if (liesWithin(root, directory)) {
      throw makeToolError("invalid_params", `the state directory ${directory} is inside the workspace ${root}`, {
        suggestion:
          "Tools must not reach their own records: set `state` to a directory outside the workspace, or `root` to a " +
          "directory further down.",
        details: { settings: ["state", "root"] }
      })
    }
    // It becomes private to its owner, with everything in it; and what lies in it must be haft's alone.
    if (liesWithin(directory, root)) {
      throw makeToolError("invalid_params", `the state directory ${directory} contains the workspace ${root}`, {
        suggestion: "Choose a state directory beside the workspace, not above it."
      })
    }
    makeDirectory(directory)
    if ((statSync(directory).mode & 0o077) !== 0 && process.platform !== "win32") chmodSync(directory, 0o700)
    checkStateFormat(directory, root)
    return canonicalPath(directory)
  })
}

/** Where a workspace really lies; it fails where there is no directory. */
export const workspaceDirectory = (root: string): string =>
  usable(`the workspace ${root}`, noSuchRoot, () => {
    const found = openRootPath(root) ?? canonicalPath(resolve(root))
    if (!statSync(found).isDirectory()) throw notADirectory(root)
    return found
  })

const noSuchRoot = { suggestion: "Set `root` to a directory that exists.", details: { settings: ["root"] } }

const usable = <A>(what: string, help: ToolErrorOptions, use: () => A): A => {
  try {
    return use()
  } catch (cause) {
    if (isToolError(cause)) throw cause
    const reason = isErrno(cause, "ENOENT") && what.startsWith("the workspace") ? "it does not exist" : reasonOf(cause)
    throw makeToolError("invalid_params", `${what} can't be used: ${reason}`, help)
  }
}

/** Where a workspace's state is kept unless a directory is given. It may not be there yet. */
export const defaultStateDirectory = (root: string): string => join(stateHome(), workspaceId(root))

/** The directory that holds the state of all workspaces without a directory of their own choice. */
export const stateHome = (): string => {
  const { XDG_STATE_HOME: given = "", LOCALAPPDATA: local = "" } = process.env
  const ofSystem = process.platform === "win32" && isAbsolute(local) ? local : join(homedir(), ".local", "state")
  return join(isAbsolute(given) ? given : ofSystem, "haft")
}

/** A name people recognize and a hash that keeps two workspaces of that name apart. */
const workspaceId = (root: string): string => {
  const name = basename(root).replaceAll(/[^\w.-]+/g, "-") || "root"
  return `${name.slice(0, 40)}-${createHash("sha256").update(root).digest("hex").slice(0, 12)}`
}

// Node's own way of making the directories above never ends where one that is there takes none, as in /proc.
const makeDirectory = (path: string): void => {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (isErrno(error, "EEXIST") && statSync(path).isDirectory()) return
    if (!isErrno(error, "ENOENT") || existsSync(dirname(path))) throw error
    makeDirectory(dirname(path))
    makeDirectory(path)
  }
}
