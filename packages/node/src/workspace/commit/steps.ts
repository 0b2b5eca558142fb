import { type FileIdentity, isSame } from "../paths/handles.ts"
import { type DirectoryNode, type FileNode, join, type LinkNode, type Node, type View } from "./planned-tree.ts"
import { temporaryName } from "./temporary-name.ts"

/**
 * One thing to do to the disk. All of them can be done again without harm when nobody knows whether they
 * were done before, and all can be taken back. Paths are relative to the root and hold no links.
 */
export type CommitStep =
  /** Something leaves its place: to go somewhere else, or to be thrown away at the end. */
  | { readonly do: "set_aside"; readonly path: string; readonly aside: string; readonly identity: FileIdentity }
  | { readonly do: "make_directory"; readonly path: string; readonly mode?: number }
  | { readonly do: "set_mode"; readonly path: string; readonly mode: number; readonly before: number }
  /** Something that waits under a temporary name gets its own. */
  | {
      readonly do: "put_in_place"
      readonly from: string
      readonly path: string
      /** The file there that goes. */
      readonly over?: FileIdentity
      /** Where that one is kept until all is done. */
      readonly kept?: string
      /** Its state, where it is kept in the history anyway, by a second name. */
      readonly image?: string
      readonly identity?: FileIdentity
    }

/** A file or link that has to be written under a temporary name before anything else happens. */
export interface Staged {
  readonly path: string
  /** Where it will go. */
  readonly target: string
  readonly node: FileNode | LinkNode
}

export interface Steps {
  readonly staged: ReadonlyArray<Staged>
  readonly steps: ReadonlyArray<CommitStep>
  /** Temporary names that hold what is thrown away once all steps are done. */
  readonly rubbish: ReadonlyArray<string>
  /** Entries on disk that take part; they must be unchanged when the steps begin. */
  readonly involved: ReadonlyArray<Node>
}

/** Steps that make the disk look like the view. */
export const stepsFor = (view: View, commit: string): Steps => {
  const staged: Array<Staged> = []
  const rubbish: Array<string> = []
  const leaving: Array<Extract<CommitStep, { do: "set_aside" }>> = []
  const arriving: Array<CommitStep> = []
  /** Directories that get more rights before everything else, and fewer after it. */
  const opening: Array<CommitStep> = []
  const closing: Array<CommitStep> = []
  for (const node of view.loaded) {
    if (node.kind !== "directory" || node.origin === undefined || hasLeft(node)) continue
    const { mode, origin } = node
    if (mode === undefined || mode === origin.mode) continue
    const list = (mode & ownerRights) === ownerRights ? opening : closing
    list.push({ do: "set_mode", path: origin.path, mode, before: origin.mode })
  }
  const arrivals = arrivalsIn(view.top, ".")
  const final = new Map(arrivals.map((arrival) => [arrival.node, arrival]))
  let number = 0
  const temporaryFor = (path: string) => join(steadyDirectory(view, path), temporaryName(commit, number++))

  const asideOf = new Map<Node, string>()
  const replaced = new Set<Node>()
  for (const { node, over } of arrivals) if (over !== undefined && canReplace(node, over)) replaced.add(over)
  const involved = view.loaded.filter(hasLeft)
  for (const node of involved) {
    const { origin } = node
    if (origin === undefined || (replaced.has(node) && !final.has(node))) continue
    const aside = temporaryFor(origin.path)
    asideOf.set(node, aside)
    if (!final.has(node)) rubbish.push(aside)
    leaving.push({ do: "set_aside", path: origin.path, aside, identity: origin.identity })
  }
  // Deeper entries go first, or they would leave together with the directory they lie in.
  leaving.sort((one, other) => depthOf(other.path) - depthOf(one.path))

  for (const { node, path, over } of arrivals) {
    if (node.kind === "directory" && node.origin === undefined) {
      const { mode } = node
      // Its entries have to get in first.
      const first = mode === undefined ? undefined : mode | ownerRights
      arriving.push({ do: "make_directory", path, ...(first !== undefined && { mode: first }) })
      if (mode !== undefined && first !== undefined && mode !== first) {
        closing.push({ do: "set_mode", path, mode, before: first })
      }
      continue
    }
    const aside = asideOf.get(node)
    if (aside === undefined && node.kind === "directory") continue
    const from = aside ?? temporaryFor(path)
    if (node.kind !== "directory" && aside === undefined) staged.push({ path: from, target: path, node })
    const identity = aside === undefined ? undefined : node.origin?.identity
    const isOver = over !== undefined && replaced.has(over) && !final.has(over)
    if (!isOver || over.origin === undefined) {
      arriving.push({ do: "put_in_place", from, path, ...(identity && { identity }) })
      continue
    }
    const kept = temporaryFor(path)
    rubbish.push(kept)
    arriving.push({ do: "put_in_place", from, path, kept, over: over.origin.identity, ...(identity && { identity }) })
  }
  if (view.opensDirectories === true) {
    for (const { path, mode } of shutDirectories(view, [...leaving, ...arriving])) {
      if (opening.some((step) => step.path === path)) continue
      const first = mode | ownerRights
      opening.push({ do: "set_mode", path, mode: first, before: mode })
      if (!closing.some((step) => step.path === path)) closing.push({ do: "set_mode", path, mode, before: first })
    }
    // Outer directories are opened before inner ones.
    opening.sort((one, other) => depthOf(one.path) - depthOf(other.path))
  }
  // Inner directories are closed before outer ones, through which they are reached.
  closing.sort((one, other) => depthOf(other.path) - depthOf(one.path))
  return { staged, steps: [...opening, ...leaving, ...arriving, ...closing], rubbish, involved }
}

interface Arrival {
  readonly node: Node
  readonly path: string
  /** Entry at that place on disk. */
  readonly over: Node | undefined
}

/** Everything that is not where it was, or was not there at all; outer directories before what is in them. */
const arrivalsIn = (directory: DirectoryNode, path: string, found: Array<Arrival> = []): ReadonlyArray<Arrival> => {
  for (const [name, node] of directory.children) {
    if (node === undefined) continue
    const isAtHome = node.origin !== undefined && node.origin.home === directory && node.origin.name === name
    if (!isAtHome) found.push({ node, path: join(path, name), over: directory.found?.get(name) })
    if (node.kind === "directory") arrivalsIn(node, join(path, name), found)
  }
  return found
}

const hasLeft = (node: Node): boolean => {
  const { origin } = node
  return origin?.home !== undefined && origin.home.children.get(origin.name) !== node
}

// A rename between two names of one file does nothing at all.
const canReplace = (node: Node, over: Node): boolean =>
  node.kind === "file" &&
  over.kind === "file" &&
  (node.origin === undefined || (over.origin !== undefined && !isSame(node.origin.identity, over.origin.identity)))

/** Directories on disk in which a step changes a name, and that their owner may not write to. */
const shutDirectories = (
  view: View,
  steps: ReadonlyArray<CommitStep>
): ReadonlyArray<{ readonly path: string; readonly mode: number }> => {
  const found = new Map<string, number>()
  for (const { path } of steps) {
    const names = path.split("/").slice(0, -1)
    const origin = names.length === 0 ? undefined : view.find(names)?.origin
    if (origin !== undefined && isShut(origin.mode)) found.set(origin.path, origin.mode)
  }
  return [...found].map(([path, mode]) => ({ path, mode }))
}

// Root may do everything.
const isShut = (mode: number): boolean => (mode & ownerRights) !== ownerRights && process.geteuid?.() !== 0

/** The innermost directory on the way to `path` that exists and stays where it is. */
const steadyDirectory = (view: View, path: string): string => {
  let directory = view.top
  let way = "."
  for (const name of path.split("/").slice(0, -1)) {
    const next = directory.children.get(name)
    if (next?.kind !== "directory" || next.origin?.path !== join(way, name)) return way
    // It is opened only when the commit is decided, and files are staged before that.
    if (view.opensDirectories === true && isShut(next.origin.mode)) return way
    directory = next
    way = join(way, name)
  }
  return way
}

/** To list a directory, to go into it and to change what is in it. */
const ownerRights = 0o700

const depthOf = (path: string): number => path.split("/").length
