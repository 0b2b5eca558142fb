import { type Change, type ChangedPath, makeToolError, type SymlinkPolicy } from "@haft/core"

import {
  alreadyExists,
  isDirectory,
  namedAsDirectory,
  notADirectory,
  notARegularFile,
  notFound,
  rootStays,
  stale
} from "../../errno.ts"
import { fingerprintContent } from "../content.ts"
import { withPlace } from "../paths/containment.ts"
import type { Recorded } from "../undo/history-log.ts"
import { copyNode } from "./copy-across-devices.ts"
import type { Owner } from "./owner.ts"
import {
  checkWritable,
  type Content,
  type DirectoryNode,
  type FileNode,
  join,
  modeOf,
  type Node,
  sizeOfContent,
  stateOfNode,
  type View
} from "./planned-tree.ts"

/** A change as the planner takes it: what tools ask for, and what only undoing needs. */
export type PlannedChange =
  | Exclude<Change, { readonly kind: "write" | "move" }>
  | (Extract<Change, { readonly kind: "move" }> & { readonly base?: string })
  | (Omit<Extract<Change, { readonly kind: "write" }>, "content"> & {
      readonly content: Content
      /** Whose it is to be, where nothing is yet. */
      readonly owner?: Owner
    })
  | { readonly kind: "restore_link"; readonly path: string; readonly target: string }
  | { readonly kind: "restore_directory"; readonly path: string; readonly mode: number }
  /** Goes when it is empty and stays when it is not. */
  | { readonly kind: "remove_if_empty"; readonly path: string }

export interface PlanOptions {
  readonly symlinks: SymlinkPolicy
  /** The paths are resolved already: a link is a link, wherever it stands. */
  readonly exact: boolean
  /** What moves is written anew and deleted where it was, as it is between two disks. */
  readonly movesByCopy?: boolean
  /** Keeps what a file holds now, before it goes. */
  readonly keep: (node: FileNode) => void
}

export interface Planned {
  readonly changed: ReadonlyArray<ChangedPath>
  /** How to go back. */
  readonly recorded: ReadonlyArray<Recorded>
}

/** Makes the changes in the view, one after the other. Pauses now and then, since large trees take a while. */
export function* planChanges(
  view: View,
  changes: ReadonlyArray<PlannedChange>,
  options: PlanOptions
): Generator<void, Planned> {
  const changed: Array<ChangedPath> = []
  const recorded: Array<Recorded> = []
  const planner: Planner = { view, options, changed, recorded }
  for (const change of changes) {
    yield* planOne(planner, change)
    yield
  }
  return { changed, recorded }
}

interface Planner {
  readonly view: View
  readonly options: PlanOptions
  readonly changed: Array<ChangedPath>
  readonly recorded: Array<Recorded>
}

function* planOne(planner: Planner, change: PlannedChange): Generator<void, void> {
  if (change.kind === "write") planWrite(planner, change)
  else if (change.kind === "delete") yield* planDelete(planner, change)
  else if (change.kind === "move") planMove(planner, change)
  else if (change.kind === "create_directory") planDirectory(planner, change.path)
  else if (change.kind === "restore_directory") planDirectory(planner, change.path, change.mode)
  else if (change.kind === "restore_link") planLink(planner, change)
  else planRemoval(planner, change.path)
}

const planWrite = (planner: Planner, change: Extract<PlannedChange, { readonly kind: "write" }>): void => {
  const { view, options, changed, recorded } = planner
  const names = locate(planner, change.path, { read: true })
  if (names.length === 0) throw isDirectory(change.path)
  if (isNamedAsDirectory(change.path)) throw namedAsDirectory(change.path)
  const path = names.join("/")
  const parent = parentOf(planner, names, { given: change.path, create: change.createDirectories === true })
  const name = names.at(-1) ?? ""
  const old = view.child(parent, name)
  if (old?.kind === "directory") throw isDirectory(change.path)
  if (old !== undefined && old.kind !== "file") throw notARegularFile(change.path)
  const before = stateOfNode(view.root, old)
  checkBase(change, before)
  if (old?.origin !== undefined) checkWritable(view, old.origin, change.path)
  const after = fingerprintContent(change.content)
  const mode = change.mode ?? modeOf(old)
  if (before === after && mode === modeOf(old)) return
  if (old !== undefined) options.keep(old)
  const owner = old?.owner ?? old?.origin?.owner ?? change.owner
  parent.children.set(name, {
    kind: "file",
    content: change.content,
    fingerprint: after,
    ...(mode !== undefined && { mode }),
    ...(owner !== undefined && { owner })
  })
  changed.push({
    path,
    kind: old === undefined ? "created" : "modified",
    before,
    after,
    bytesWritten: sizeOfContent(change.content)
  })
  recorded.push({
    did: "write",
    path,
    before: old === undefined ? null : { state: before, mode: modeOf(old) ?? 0o644 },
    after,
    ...(old !== undefined && mode !== modeOf(old) && { changedMode: true })
  })
}

function* planDelete(
  planner: Planner,
  change: Extract<PlannedChange, { readonly kind: "delete" }>
): Generator<void, void> {
  const { view, options } = planner
  const names = locate(planner, change.path, { follow: false })
  const node = view.find(names)
  if (node === undefined) throw notFound(change.path)
  if (names.length === 0) throw rootStays("deleted")
  const isLink = node.kind === "symlink" && node.origin !== undefined && !options.exact
  checkBase(
    change,
    isLink && change.base !== undefined ? stateThrough(view, change.path, options) : stateOfNode(view.root, node)
  )
  if (node.kind === "directory" && change.recursive !== true) {
    throw makeToolError("is_directory", `${change.path} is a directory`, {
      suggestion: "Ask for a recursive deletion if everything in it should go too.",
      details: { path: change.path }
    })
  }
  yield* planGone(planner, node, names.join("/"), change.path)
  detach(view, names)
}

/** Puts down that a node and all that is in it goes: what is inside first. */
function* planGone(planner: Planner, node: Node, path: string, given: string): Generator<void, void> {
  const { view, options, changed, recorded } = planner
  if (node.kind === "directory") {
    const inside = view.names(node)
    if (inside.length > 0 && node.origin !== undefined) checkWritable(view, node.origin, given)
    for (const name of inside) {
      const child = view.child(node, name)
      if (child !== undefined) yield* planGone(planner, child, join(path, name), given)
    }
  }
  const before = stateOfNode(view.root, node)
  if (node.kind === "file") options.keep(node)
  changed.push({ path, kind: "deleted", before, after: "absent", bytesWritten: 0 })
  recorded.push(deletion(view, node, path))
  yield
}

/** What is needed to bring something back that goes. */
const deletion = (view: View, node: Node, path: string): Recorded => {
  const owner = node.kind === "file" ? (node.owner ?? node.origin?.owner) : undefined
  return {
    did: "delete",
    path,
    state: stateOfNode(view.root, node),
    mode: modeOf(node) ?? 0o644,
    ...(node.kind === "symlink" && { target: node.target ?? "" }),
    ...(owner !== undefined && owner.uid !== process.geteuid?.() && { owner })
  }
}

const planMove = (planner: Planner, change: Extract<PlannedChange, { readonly kind: "move" }>): void => {
  const { view, options, changed, recorded } = planner
  const from = locate(planner, change.from, { follow: false })
  const node = view.find(from)
  if (node === undefined) throw notFound(change.from)
  if (from.length === 0) throw rootStays("moved")
  const to = locate(planner, change.to, { follow: false })
  if (to.length === 0) throw alreadyExists(change.to)
  if (node.kind !== "directory" && isNamedAsDirectory(change.to)) throw namedAsDirectory(change.to)
  const [fromPath, toPath] = [from.join("/"), to.join("/")]
  if (fromPath === toPath) return
  if (toPath.startsWith(`${fromPath}/`)) {
    throw makeToolError("invalid_params", `${change.from} can't be moved into itself`, {
      suggestion: "Choose a place outside it.",
      details: { path: change.to }
    })
  }
  const parent = parentOf(planner, to, { given: change.to, create: change.createDirectories === true })
  // The rename itself would not tell which of the two places it was refused at.
  if (parent.origin !== undefined) checkWritable(view, parent.origin, change.to)
  const name = to.at(-1) ?? ""
  const target = view.child(parent, name)
  const before = stateOfNode(view.root, node)
  checkBase({ path: change.from, ...(change.base !== undefined && { base: change.base }) }, before)
  if (target !== undefined && !isSameEntry(target, node)) {
    if (change.overwrite !== true) throw alreadyExists(change.to)
    if (target.kind === "directory") throw isDirectory(change.to)
    if (node.kind === "directory") throw alreadyExists(change.to)
    if (target.kind === "file") options.keep(target)
    recorded.push(deletion(view, target, toPath))
  }
  detach(view, from)
  const isByCopy =
    options.movesByCopy === true ||
    (node.origin !== undefined && node.origin.identity.device !== deviceOf(view, to.slice(0, -1)))
  parent.children.set(name, isByCopy ? copyNode(view, node) : node)
  changed.push({ path: fromPath, kind: "moved", movedTo: toPath, before, after: before, bytesWritten: 0 })
  recorded.push({ did: "move", from: fromPath, to: toPath, state: before })
}

const planDirectory = (planner: Planner, given: string, mode?: number): void => {
  const { view } = planner
  const names = locate(planner, given)
  const node = view.find(names)
  if (node?.kind === "directory") return
  if (node !== undefined) throw alreadyExists(given)
  const parent = parentOf(planner, names, { given, create: mode === undefined })
  makeDirectory(planner, parent, names, mode)
}

const planLink = (planner: Planner, change: Extract<PlannedChange, { kind: "restore_link" }>): void => {
  const { view, changed, recorded } = planner
  const names = locate(planner, change.path, { follow: false })
  const parent = view.find(names.slice(0, -1))
  if (parent?.kind !== "directory") throw notFound(change.path)
  if (view.child(parent, names.at(-1) ?? "") !== undefined) throw alreadyExists(change.path)
  const path = names.join("/")
  parent.children.set(names.at(-1) ?? "", { kind: "symlink", target: change.target })
  changed.push({ path, kind: "created", before: "absent", after: "symlink", bytesWritten: 0 })
  recorded.push({ did: "write", path, before: null, after: "symlink" })
}

const planRemoval = (planner: Planner, path: string): void => {
  const { view, changed, recorded } = planner
  const names = locate(planner, path, { follow: false })
  const node = view.find(names)
  if (node?.kind !== "directory" || view.names(node).length > 0) return
  detach(view, names)
  changed.push({ path, kind: "deleted", before: "directory", after: "absent", bytesWritten: 0 })
  recorded.push({ did: "delete", path, state: "directory", mode: modeOf(node) ?? 0o755 })
}

const locate = (
  { view, options }: Planner,
  path: string,
  how: { readonly follow?: boolean; readonly read?: boolean } = {}
): ReadonlyArray<string> => (options.exact ? path.split("/") : view.locate(path, how))

/** The directory that a path lies in; made in the view when it is missing and may be made. */
const parentOf = (
  planner: Planner,
  names: ReadonlyArray<string>,
  { given, create }: { readonly given: string; readonly create: boolean }
): DirectoryNode => {
  const { view } = planner
  let directory = view.top
  for (const [index, name] of names.slice(0, -1).entries()) {
    const next = view.child(directory, name)
    const way = names.slice(0, index + 1)
    if (next === undefined && !create) {
      throw makeToolError("file_not_found", `${given}: the directory ${way.join("/")} does not exist`, {
        suggestion: "Create the directory first, or ask for missing directories to be created.",
        details: { path: given }
      })
    }
    if (next !== undefined && next.kind !== "directory") throw notADirectory(way.join("/"))
    directory = next ?? makeDirectory(planner, directory, way)
  }
  return directory
}

const makeDirectory = (
  { changed, recorded }: Planner,
  parent: DirectoryNode,
  names: ReadonlyArray<string>,
  mode?: number
): DirectoryNode => {
  const path = names.join("/")
  const made: DirectoryNode = { kind: "directory", children: new Map(), ...(mode !== undefined && { mode }) }
  parent.children.set(names.at(-1) ?? "", made)
  changed.push({ path, kind: "created", before: "absent", after: "directory", bytesWritten: 0 })
  recorded.push({ did: "make_directory", path })
  return made
}

const detach = (view: View, names: ReadonlyArray<string>): void => {
  const parent = view.find(names.slice(0, -1))
  if (parent?.kind === "directory") parent.children.set(names.at(-1) ?? "", undefined)
}

// A file system that ignores case finds the old name under the new one.
const isSameEntry = (target: Node, node: Node): boolean => {
  const [one, other] = [target.origin, node.origin]
  return (
    one !== undefined &&
    other !== undefined &&
    one.home === other.home &&
    one.identity.number === other.identity.number &&
    one.links === 1 &&
    one.name !== other.name &&
    one.name.toLowerCase() === other.name.toLowerCase()
  )
}

/** The device of a directory; one that is only planned will be on that of the one it lies in. */
const deviceOf = (view: View, names: ReadonlyArray<string>): number | undefined => {
  const ways = [...names.keys()].map((index) => names.slice(0, index + 1))
  const existing = ways.map((way) => view.find(way)?.origin).findLast((origin) => origin !== undefined)
  return (existing ?? view.top.origin)?.identity.device
}

const stateThrough = (view: View, given: string, { symlinks }: PlanOptions): string =>
  withPlace(view.root, given, { symlinks }, ({ path }) => stateOfNode(view.root, view.find(path.split("/"))))

const checkBase = (change: { readonly path: string; readonly base?: string }, state: string): void => {
  if (change.base !== undefined && change.base !== state) throw stale(change.path)
}

const isNamedAsDirectory = (path: string): boolean => /\/\.?$/.test(path)
