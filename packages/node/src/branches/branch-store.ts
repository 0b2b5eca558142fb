import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { makeToolError, type ToolError } from "@haft/core"

import { ignoring, isErrno } from "../errno.ts"
import { makeUpper, removeTree, scratchBase } from "../sandbox/overlay/scratch.ts"
import { branchFile, readBranchFile } from "./branch-file.ts"

/** A named view of a workspace, with an upper directory that takes all that is changed in it. */
export interface Branch {
  readonly name: string
  /** The workspace's directory. */
  readonly root: string
  /** ISO 8601. */
  readonly createdAt: string
  readonly directory: string
  /** Holds what differs from the workspace. */
  readonly upper: string
  /** The kernel's own. */
  readonly work: string
  /** State directory of hosts on the branch: history, records, artifacts. */
  readonly state: string
}

export interface BranchesOf {
  /** The workspace's directory, without links. */
  readonly root: string
  /** The state directory of the workspace. */
  readonly state: string
}

const validName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** Where the branches of a workspace lie: outside of it, and on its file system where that can be. */
const branchesBase = ({ root, state }: BranchesOf): string => scratchBase(root, state, "branches")

/** Makes a branch. It appears under its name whole or not at all. */
export const createBranch = (place: BranchesOf, name: string): Branch => {
  requireName(name)
  const base = branchesBase(place)
  mkdirSync(base, { recursive: true, mode: 0o700 })
  const made = join(base, `.${name}.new-${process.pid}`)
  removeTree(made)
  mkdirSync(made, { mode: 0o700 })
  try {
    makeUpper(place.root, { upper: join(made, "upper"), work: join(made, "work") })
    mkdirSync(join(made, "state"), { mode: 0o700 })
    const content = { name, root: place.root, createdAt: new Date().toISOString() }
    writeFileSync(join(made, branchFile), `${JSON.stringify(content)}\n`, { mode: 0o600 })
    // A directory that is there and not empty is not replaced, so of two who make the same branch one fails.
    renameSync(made, join(base, name))
  } catch (error) {
    removeTree(made)
    if (!isErrno(error, "EEXIST", "ENOTEMPTY")) throw error
    throw makeToolError("already_exists", `there is a branch '${name}' already`, {
      suggestion: "Choose another name, or drop that branch first.",
      details: { branch: name }
    })
  }
  return findBranch(place, name)
}

/** The branches of a workspace, sorted by name. */
export const listBranches = (place: BranchesOf): ReadonlyArray<Branch> => {
  const base = branchesBase(place)
  const names: Array<string> = []
  ignoring(() => names.push(...readdirSync(base)), "ENOENT")
  return names
    .filter((name) => validName.test(name))
    .toSorted()
    .flatMap((name) => branchAt(join(base, name)) ?? [])
}

/** The branch of that name. Throws where there is none. */
export const findBranch = (place: BranchesOf, name: string): Branch => {
  requireName(name)
  const found = branchAt(join(branchesBase(place), name))
  if (found !== undefined) return found
  const known = listBranches(place).map((branch) => branch.name)
  throw makeToolError(
    "file_not_found",
    `there is no branch '${name}'; ${known.length === 0 ? "the workspace has none" : `there are: ${known.join(", ")}`}`,
    { suggestion: "Create it first, or name one that exists.", details: { branch: name } }
  )
}

/**
 * Removes a branch with everything changed in it. Its records go to the workspace's state, since they say what ran on
 * this machine.
 */
export const removeBranch = ({ directory, name, state }: Branch, workspaceState: string): void => {
  const runs = join(workspaceState, "runs")
  ignoring(() => {
    for (const run of readdirSync(join(state, "runs"))) {
      mkdirSync(runs, { recursive: true, mode: 0o700 })
      moveTree(join(state, "runs", run), join(runs, run))
    }
  }, "ENOENT")
  const gone = join(directory, "..", `.${name}.gone-${process.pid}`)
  removeTree(gone)
  renameSync(directory, gone)
  removeTree(gone)
}

const moveTree = (from: string, to: string): void => {
  try {
    renameSync(from, to)
  } catch (error) {
    if (!isErrno(error, "EXDEV")) throw error
    process.getBuiltinModule("node:fs").cpSync(from, to, { recursive: true, preserveTimestamps: true })
  }
}

const branchAt = (directory: string): Branch | undefined => {
  const content = readBranchFile(directory)
  if (content === undefined) return undefined
  const [upper, work, state] = [join(directory, "upper"), join(directory, "work"), join(directory, "state")]
  return { ...content, directory, upper, work, state }
}

const requireName = (name: string): void => {
  if (validName.test(name)) return
  throw makeToolError(
    "invalid_params",
    `${JSON.stringify(name.slice(0, 80))} is not a name for a branch: expected 1 to 64 letters, digits, '.', '_' or '-', ` +
      "beginning with a letter or a digit",
    { suggestion: "Choose a name such as fix-1." }
  )
}

/** Marks what begins now: files of the workspace that change later were not all seen by it. */
export const beginSession = ({ directory }: Branch): void => {
  writeFileSync(join(directory, "session"), "", { mode: 0o600 })
}

/** When the session began whose changes are not settled yet, by the clock of the file system. */
export const sessionStart = ({ directory }: Branch): number | undefined =>
  lstatSync(join(directory, "session"), { throwIfNoEntry: false })?.ctimeMs

/** States of the workspace's paths that a branch changed, as they were when it did; undefined for one that is not known. */
export type BaseStates = Readonly<Record<string, string>>

export const readBases = ({ directory }: Branch): BaseStates => {
  try {
    return JSON.parse(readFileSync(join(directory, "bases.json"), "utf8")) as BaseStates
  } catch (error) {
    if (isErrno(error, "ENOENT")) return {}
    throw error
  }
}

/** Writes the base states of a session that has ended, and ends it. */
export const endSession = ({ directory }: Branch, bases: BaseStates): void => {
  const path = join(directory, "bases.json")
  writeFileSync(`${path}.new`, JSON.stringify(bases), { mode: 0o600 })
  renameSync(`${path}.new`, path)
  removeTree(join(directory, "session"))
}

/** Marks a branch that is about to be merged; once some of its files are in the workspace, no host may work on them. */
export const markMerging = ({ directory }: Branch, isMerging: boolean): void => {
  const path = join(directory, "merging")
  if (isMerging) writeFileSync(path, "", { mode: 0o600 })
  else removeTree(path)
}

/** Refuses a branch whose merge was cut short. */
export const requireUnmerged = ({ directory, name }: Branch): ToolError<"branch_in_use"> | undefined =>
  lstatSync(join(directory, "merging"), { throwIfNoEntry: false }) === undefined
    ? undefined
    : makeToolError("branch_in_use", `branch '${name}' was being merged when a host died`, {
        suggestion: "Merge it again, or drop it.",
        details: { branch: name }
      })
