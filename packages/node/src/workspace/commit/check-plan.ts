import { closeSync, lstatSync, type Stats } from "node:fs"

import {
  type ApprovedState,
  type ChangedPath,
  isToolError,
  makeToolError,
  type SymlinkPolicy,
  type ToolError
} from "@haft/core"
import { directoriesAbove } from "@haft/core/internal"

import { isErrno, stale } from "../../errno.ts"
import { openFile } from "../content.ts"
import { type Root, withPlace, withResolved } from "../paths/containment.ts"
import { pathOf, Spots } from "../paths/directory-entries.ts"
import { identityOf, isSame } from "../paths/handles.ts"
import type { Work } from "../turns.ts"
import {
  fingerprintOpen,
  listNames,
  type Node,
  type Origin,
  stateLike,
  stateOfNode,
  type View
} from "./planned-tree.ts"
import type { WaitingCommit } from "./write-ahead-log.ts"

/** Facts that the call was judged by and that a commit has to hold to. */
export interface Judged {
  readonly symlinks: SymlinkPolicy
  readonly approvedState?: ApprovedState
  /** Where changes may be made; anywhere when absent. */
  readonly assessedWrites?: ReadonlyArray<string>
}

/** Fails unless everything is as the plan found it, as it was approved, and among what the call was assessed for. */
export function* checkPlan(
  { view, changes }: { readonly view: View; readonly changes: ReadonlyArray<ChangedPath> },
  judged: Judged,
  waiting: ReadonlyArray<WaitingCommit>
): Work {
  const changed = yield* firstChange(view)
  if (changed !== undefined) throw stale(changed)
  checkWaiting(changes, waiting)
  yield* checkApproved(view, judged)
  yield* checkAssessed(view, changes, judged)
}

/** The first path that is no longer as it was found; undefined when all are. */
function* firstChange(view: View): Work<string | undefined> {
  const spots = new Spots(view.root)
  try {
    for (const node of view.loaded) {
      const { origin } = node
      if (origin !== undefined && origin.path !== "." && !isAsFound(view, spots, node, origin)) return origin.path
      yield
    }
    for (const path of view.absent) if (lookAt(spots, path) !== undefined) return path
    return undefined
  } finally {
    spots.forget()
  }
}

const isAsFound = (view: View, spots: Spots, node: Node, origin: Origin): boolean => {
  if (node.kind === "file" && node.fingerprint !== undefined && origin.isRecent) {
    return contentAt(view.root, spots, origin) === node.fingerprint
  }
  const found = lookAt(spots, origin.path)
  if (found === undefined || !isSame(identityOf(found), origin.identity)) return false
  if (node.kind === "directory") {
    if (node.listed === undefined || found.mtimeMs === origin.modified) return true
    const names = withResolved(view.root, origin.path, (place) => listNames(view.root, place))
    return names.length === node.listed.length && names.every((name, index) => name === node.listed?.[index])
  }
  // The number of a link that was replaced may be that of its successor.
  if (node.kind === "symlink") return found.mtimeMs === origin.modified && found.size === origin.size
  if (node.kind !== "file") return true
  const isUntouched = found.size === origin.size && found.mtimeMs === origin.modified
  // Its content was of no interest, or is too much to read.
  if (node.fingerprint === undefined) return isUntouched
  return (isUntouched && found.ctimeMs === origin.changed) || contentAt(view.root, spots, origin) === node.fingerprint
}

/** The fingerprint of a file where it was found; undefined where it is another one by now. */
const contentAt = (root: Root, spots: Spots, { path, identity }: Origin): string | undefined => {
  const held = ifThere(() => {
    const { directory, name } = spots.at(path)
    return root.technique.hold(directory.base, name)
  })
  if (held === undefined) return undefined
  try {
    if (!held.stats.isFile() || !isSame(identityOf(held.stats), identity)) return undefined
    const descriptor = openFile(root, { found: held, given: path })
    try {
      return fingerprintOpen(path, descriptor, held.stats.size)
    } finally {
      closeSync(descriptor)
    }
  } finally {
    held.close()
  }
}

const lookAt = (spots: Spots, path: string): Stats | undefined =>
  ifThere(() => lstatSync(pathOf(spots.at(path)), { throwIfNoEntry: false }))

/** Undefined where the way to a path is no longer there. */
const ifThere = <A>(look: () => A): A | undefined => {
  try {
    return look()
  } catch (error) {
    if (isToolError(error) || isErrno(error, "ENOENT", "ENOTDIR", "ELOOP")) return undefined
    throw error
  }
}

/** Checks that what a person approved is still so. */
function* checkApproved(view: View, { approvedState, symlinks }: Judged): Work {
  for (const [path, state] of approvedState ?? []) {
    if (stateNow(view, path, symlinks, state) !== state) throw stale(path)
    yield
  }
}

/** Refuses to change what a commit has half made: it will be finished when its directory is back. */
const checkWaiting = (changed: ReadonlyArray<ChangedPath>, waiting: ReadonlyArray<WaitingCommit>): void => {
  for (const { directory, paths } of waiting) {
    for (const path of changed.flatMap((change) => [change.path, change.movedTo ?? change.path])) {
      const isInTheWay = [directory, ...paths].some((one) => one === path || isBelow(path, one) || isBelow(one, path))
      if (isInTheWay) throw halfMade(path, directory)
    }
  }
}

const isBelow = (path: string, directory: string): boolean => path.startsWith(`${directory}/`)

const halfMade = (path: string, directory: string): ToolError<"write_failed"> =>
  makeToolError(
    "write_failed",
    `${path} is part of an earlier change that is unfinished because ${directory} is missing; nothing was changed`,
    {
      suggestion: `Bring ${directory} back, or create it with a command if it is gone for good; the next change finishes the earlier one.`,
      details: { path, missing: directory }
    }
  )

/** Refuses what the call was not judged by: links are resolved, so one that was put in the way since then shows here. */
function* checkAssessed(view: View, changed: ReadonlyArray<ChangedPath>, { assessedWrites }: Judged): Work {
  if (assessedWrites === undefined) return
  const exactly = new Set(assessedWrites)
  const above = new Set(assessedWrites.flatMap(directoriesAbove))
  for (const { path, movedTo, kind, after } of changed) {
    const isOnTheWay = kind === "created" && after === "directory"
    for (const changedPath of movedTo === undefined ? [path] : [path, movedTo]) {
      const isAssessed =
        exactly.has(".") ||
        exactly.has(changedPath) ||
        (isOnTheWay && above.has(changedPath)) ||
        directoriesAbove(changedPath).some((directory) => exactly.has(directory)) ||
        // The new spelling of a name, where case is ignored: it was judged as the entry that it finds.
        exactly.has(listedPath(view.root, changedPath) ?? changedPath)
      if (!isAssessed) throw elsewhere(changedPath)
    }
    yield
  }
}

const listedPath = (root: Root, path: string): string | undefined =>
  ifThere(() => withResolved(root, path, (place) => place.path))

const elsewhere = (path: string): ToolError =>
  makeToolError(
    "stale_file",
    `refusing to change ${path}: the call did not declare it in its touches; nothing was changed`,
    {
      suggestion:
        "Check whether a link on the path has changed, then repeat the call. A tool must declare every path it changes.",
      details: { path }
    }
  )

const stateNow = (view: View, given: string, symlinks: SymlinkPolicy, approved: string): string => {
  try {
    const path = withPlace(view.root, given, { symlinks }, (place) => place.path)
    return stateLike(view.root, view.original(path), approved)
  } catch (error) {
    if (isToolError(error)) return error.code
    throw error
  }
}

/** The last look before anything is changed: time has passed since the plan was made. */
export function* checkUnchanged(spots: Spots, nodes: ReadonlyArray<Node>): Work {
  for (const node of nodes) {
    const { origin } = node
    if (origin === undefined) continue
    const found = lstatSync(pathOf(spots.at(origin.path)), { throwIfNoEntry: false })
    if (found === undefined || !isSame(identityOf(found), origin.identity)) throw stale(origin.path)
    if (node.kind !== "file") continue
    yield
    if (found.size === origin.size && found.mtimeMs === origin.modified) continue
    if (stateOfNode(spots.root, { kind: "file", origin }) !== node.fingerprint) throw stale(origin.path)
  }
}
