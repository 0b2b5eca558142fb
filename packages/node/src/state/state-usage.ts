import { existsSync, lstatSync, readdirSync, rmSync } from "node:fs"
import { join } from "node:path"

import { makeToolError } from "@haft/core"

import { isErrno } from "../errno.ts"
import { isRunBefore } from "../records/runs.ts"
import { isLocked } from "./lock-file.ts"
import { stateHome } from "./state-directory.ts"
import { readStateMark, type StateMark } from "./state-format.ts"

/** How much a state directory holds, by what it is kept for. */
export interface StateUsage {
  readonly directory: string
  readonly format: number | undefined
  /** The workspace's directory, where the state directory says it. */
  readonly root: string | undefined
  readonly bytes: number
  /** Bytes of each entry of the directory: `runs` are records and artifacts, `history` is what undo needs. */
  readonly parts: Readonly<Record<string, number>>
  readonly runs: number
  /** Runs of hosts that are alive. */
  readonly openRuns: ReadonlyArray<string>
}

/** Measures a state directory. Nothing in it changes. */
export const stateUsage = (directory: string): StateUsage => {
  const mark = markIfReadable(directory)
  const parts = Object.fromEntries(
    namesIn(directory).map((name): [string, number] => [name, bytesBelow(join(directory, name))])
  )
  return {
    directory,
    format: mark?.format,
    root: mark?.root,
    bytes: Object.values(parts).reduce((sum, bytes) => sum + bytes, 0),
    parts,
    runs: namesIn(join(directory, "runs")).length,
    openRuns: openRuns(directory)
  }
}

/** Measures every state directory in the user's own state, where a workspace's lies unless it is set. */
export const allStateUsage = (): ReadonlyArray<StateUsage> =>
  namesIn(stateHome())
    .map((name) => join(stateHome(), name))
    .filter((directory) => lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() === true)
    .map(stateUsage)

/** True where a state directory is, even an empty one. */
export const hasState = (directory: string): boolean => existsSync(directory)

export interface PrunedRuns {
  readonly runs: ReadonlyArray<string>
  readonly bytes: number
}

/**
 * Removes the records and artifacts of runs that began before a time; runs of living hosts stay, and so does the
 * newest run. What undo needs has a limit of its own and is kept.
 */
export const pruneState = (
  directory: string,
  { before, isDry = false }: { readonly before: Date; readonly isDry?: boolean }
): PrunedRuns => {
  const open = new Set(openRuns(directory))
  const runs = namesIn(join(directory, "runs")).toSorted()
  const old = runs.slice(0, -1).filter((run) => !open.has(run) && isRunBefore(run, before))
  let bytes = 0
  for (const run of old) {
    const path = join(directory, "runs", run)
    bytes += bytesBelow(path)
    if (!isDry) rmSync(path, { recursive: true, force: true })
  }
  return { runs: old, bytes }
}

/** Removes a state directory: records, artifacts, rules, history. Refused while a host uses it, or if it is not one. */
export const removeState = (directory: string): void => {
  const open = openRuns(directory)
  if (open.length > 0) {
    throw makeToolError(
      "invalid_params",
      `the state directory ${directory} is used by ${open.length} running host(s)`,
      {
        suggestion: "End the hosts of this workspace first.",
        details: { runs: open }
      }
    )
  }
  if (readStateMark(directory) === undefined) {
    throw makeToolError("invalid_params", `${directory} is not a state directory: it has no format.json`, {
      suggestion: "Name the workspace by `root`, or its state directory by `state`.",
      details: { settings: ["root", "state"] }
    })
  }
  rmSync(directory, { recursive: true, force: true })
}

// One damaged mark must not hide the other state directories from a list. Opening or removing such a directory fails.
const markIfReadable = (directory: string): StateMark | undefined => {
  try {
    return readStateMark(directory)
  } catch {
    return undefined
  }
}

const openRuns = (directory: string): ReadonlyArray<string> =>
  namesIn(join(directory, "open-runs")).filter((run) => isLocked(join(directory, "open-runs", run)))

const namesIn = (directory: string): ReadonlyArray<string> => {
  try {
    return readdirSync(directory)
  } catch (cause) {
    if (isErrno(cause, "ENOENT", "ENOTDIR")) return []
    throw cause
  }
}

const bytesBelow = (path: string): number => {
  const info = lstatSync(path, { throwIfNoEntry: false })
  if (info === undefined) return 0
  if (!info.isDirectory()) return info.size
  return namesIn(path).reduce((sum, name) => sum + bytesBelow(join(path, name)), 0)
}
