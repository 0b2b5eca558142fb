import { readFileSync } from "node:fs"
import { join } from "node:path"

import { makeToolError } from "@haft/core"

import { isErrno } from "../errno.ts"
import { isOverlay } from "../workspace/paths/handles.ts"

/** The file that makes a directory a branch. */
export const branchFile = "branch.json"

/** The environment variable that tells programs on a branch its directory. */
export const branchVariable = "HAFT_BRANCH"

export interface BranchFile {
  readonly name: string
  readonly root: string
  readonly createdAt: string
}

/** Metadata in a branch's directory; undefined where there is no branch. */
export const readBranchFile = (directory: string): BranchFile | undefined => {
  try {
    return JSON.parse(readFileSync(join(directory, branchFile), "utf8")) as BranchFile
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return undefined
    throw error
  }
}

/**
 * State directory of the branch that this process works on, where `root` is its workspace. History and locks of the
 * workspace itself must not be used for files that are not in it, so this goes before every setting.
 */
export const branchState = (root: string): string | undefined => {
  const directory = process.env[branchVariable]
  if (directory === undefined || directory === "") return undefined
  if (readBranchFile(directory)?.root !== root) return undefined
  if (isOverlay(root)) return join(directory, "state")
  throw makeToolError("invalid_params", `${branchVariable} names a branch of ${root}, but this process is not on it`, {
    suggestion: `Start it with \`haft branch run\`, or unset ${branchVariable}.`
  })
}
