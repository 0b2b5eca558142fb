import { lstatSync } from "node:fs"

import { controlFileAt, dependencyDirectories } from "@haft/core/internal"

import { contentKey, problemOf } from "../../control-files/judge.ts"
import {
  ControlFileScanner,
  lookAtFile,
  repositoryFiles,
  type ScannedRoot,
  type SeenFile,
  shownPath
} from "../../control-files/snapshot.ts"
import type { UpperEntry } from "./upper.ts"

/** A control file that a command made, changed or deleted in an overlay. */
export interface ControlChange {
  /** Relative to the workspace. */
  readonly path: string
  readonly reason: string
  /** Below installed packages: nobody opens those directories as a project. */
  readonly isRecordedOnly: boolean
  /** Absent for one that was deleted. */
  readonly file?: SeenFile
}

export interface Layers {
  readonly root: string
  /** The workspace. */
  readonly lower: ScannedRoot
  readonly upper: ScannedRoot
  readonly entries: ReadonlyArray<UpperEntry>
}

/** Control files among the changes of an overlay that can't pass without a question. What git itself writes passes. */
export const controlChanges = async (layers: Layers): Promise<ReadonlyArray<ControlChange>> => {
  const { root, lower, upper, entries } = layers
  const { files } = await new ControlFileScanner(upper).scan()
  const { changed, trusted } = repositoriesAcross(layers)
  const made = new Map([...files, ...changed, ...trusted].filter(([path]) => !isWhiteout(upper, path)))
  const changes: Array<ControlChange> = []
  for (const file of made.values()) {
    // Files in a directory that was no repository have not been judged.
    const looked = trusted.has(file.path) ? undefined : lookAtFile(lower, file.path)
    const before = looked === undefined ? undefined : { ...looked, git: file.git, readBy: file.readBy }
    if (before !== undefined && contentKey(before) === contentKey(file)) continue
    const reason = problemOf(root, file, before)
    const isRecordedOnly = file.isDependency && file.git === undefined
    if (reason !== undefined) changes.push({ path: shownPath(file.path), reason, isRecordedOnly, file })
  }
  for (const { kind, path } of entries) {
    const reason = kind === "whiteout" ? deletionProblem(path) : undefined
    if (reason !== undefined) changes.push({ path, reason, isRecordedOnly: false })
  }
  return changes
}

const isWhiteout = ({ held }: ScannedRoot, path: string): boolean =>
  lstatSync(Buffer.concat([Buffer.from(`${held.base}/`), Buffer.from(path, "latin1")]), {
    throwIfNoEntry: false
  })?.isCharacterDevice() === true

const repositoryNames = new Set(["HEAD", "objects", "refs", "config", "config.worktree", "commondir", "hooks"])

/**
 * Control files of repositories without a working tree, which git finds by what is in them. Such a directory may lie
 * partly in the workspace and partly in the overlay, and may have become a repository only with the overlay.
 */
const repositoriesAcross = ({ lower, upper, entries }: Layers) => {
  const changed = new Map<string, SeenFile>()
  /** Of directories that become repositories with the overlay. */
  const trusted = new Map<string, SeenFile>()
  for (const directory of directoriesWith(entries, repositoryNames)) {
    const isIn = ({ held }: ScannedRoot, name: string): boolean =>
      lstatSync(`${held.base}/${directory}/${name}`, { throwIfNoEntry: false }) !== undefined
    if (!bareRepository.every((name) => isIn(upper, name) || isIn(lower, name))) continue
    const key = Buffer.from(directory).toString("latin1")
    const wasOne = bareRepository.every((name) => isIn(lower, name))
    const files = [...(wasOne ? [] : repositoryFiles(lower, key)), ...repositoryFiles(upper, key)]
    for (const [path, file] of files) (wasOne ? changed : trusted).set(path, file)
  }
  return { changed, trusted }
}

/** Names by which git recognizes a directory as a repository. */
const bareRepository = ["HEAD", "objects", "refs"]

/** The directories in which an overlay holds one of these names. */
const directoriesWith = (entries: ReadonlyArray<UpperEntry>, names: ReadonlySet<string>): ReadonlySet<string> => {
  const directories = new Set<string>()
  for (const { path, kind } of entries) {
    const slash = path.lastIndexOf("/")
    if (kind !== "whiteout" && names.has(path.slice(slash + 1))) directories.add(path.slice(0, Math.max(0, slash)))
  }
  return directories
}

/** Why a control file is not deleted without a question; undefined where it may be. */
const deletionProblem = (path: string): string | undefined => {
  const names = path.split("/")
  if (names.some((name) => dependencyDirectories.includes(name))) return undefined
  const at = names.findIndex((_, index) => controlFileAt(names.slice(0, index + 1)) !== undefined)
  if (at === -1) return undefined
  const control = controlFileAt(names.slice(0, at + 1))
  if (names[at]?.toLowerCase() !== ".git") return `${control?.readBy ?? "a program"} reads it, and it is deleted`
  const [first, second] = names.slice(at + 1)
  if (first === undefined) return "it is the repository itself, and it is deleted"
  const isHook = first === "hooks" && second?.endsWith(".sample") !== true
  return first === "config" || isHook ? "git reads it, and it is deleted" : undefined
}
