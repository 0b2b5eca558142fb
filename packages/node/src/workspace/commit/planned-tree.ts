import { isUtf8 } from "node:buffer"
import { accessSync, closeSync, constants, fstatSync, readdirSync } from "node:fs"

import { makeToolError, type SymlinkPolicy } from "@haft/core"

import { fromErrno, isErrno, notADirectory, notFound } from "../../errno.ts"
import {
  fingerprintBytes,
  fingerprintContent,
  fingerprintDescriptor,
  openFile,
  readDescriptor,
  stateByStats
} from "../content.ts"
import { type Place, readLink, type Root, withPlace, withResolved } from "../paths/containment.ts"
import { pathOf, withSpots } from "../paths/directory-entries.ts"
import { identityOf, type FileIdentity } from "../paths/handles.ts"

/** Content that may be gone over more than once: first for its hash, then to write it. */
export type RepeatableContent = Iterable<Uint8Array>

export const sizeOfContent = (content: RepeatableContent): number => {
  let size = 0
  for (const piece of content) size += piece.length
  return size
}

/** Where something was on disk, and what it was, when the plan first looked at it. */
export interface Origin {
  readonly path: string
  readonly identity: FileIdentity
  readonly size: number
  /** Times of the last change of the content and of the inode, and whether another may follow within the same tick. */
  readonly modified: number
  readonly changed: number
  readonly isRecent: boolean
  readonly mode: number
  readonly links: number
  readonly owner: { readonly uid: number; readonly gid: number }
  /** The directory it was found in, as the plan knows it. */
  readonly home: DirectoryNode | undefined
  readonly name: string
}

/** A file in a scratch directory of the host, as it was when it was planned. */
export interface ScratchFile {
  readonly path: string
  readonly identity: FileIdentity
  readonly size: number
  readonly modified: number
}

export interface FileNode {
  readonly kind: "file"
  readonly origin?: Origin
  /** Absent while it is what is on disk. */
  readonly content?: RepeatableContent
  /** Entry on disk, once it was read. */
  bytes?: Uint8Array
  /** A file outside the workspace that is renamed into it. */
  readonly scratch?: ScratchFile
  readonly mode?: number
  readonly owner?: Origin["owner"]
  fingerprint?: string
}

export interface DirectoryNode {
  readonly kind: "directory"
  readonly origin?: Origin
  /** Absent while it is what is on disk. */
  mode?: number
  /** Planned entry, as far as anybody looked; undefined means nothing of that name. */
  readonly children: Map<string, Node | undefined>
  /** Entry on disk, as far as anybody looked. */
  readonly found?: Map<string, Node>
  /** Everything it held on disk, once somebody asked for all. */
  listed?: ReadonlyArray<string>
}

export interface LinkNode {
  readonly kind: "symlink" | "other"
  readonly origin?: Origin
  readonly target?: string
}

export type Node = FileNode | DirectoryNode | LinkNode

/**
 * The workspace as it will be: changes are made here first, one after the other, each on the result of the
 * one before. The disk is read as far as the changes reach, and never written.
 */
export interface View {
  readonly root: Root
  /** Directories that their owner may not write to are opened for the commit: what a program did in them is done. */
  opensDirectories?: boolean
  readonly top: DirectoryNode
  /** Everything that was found on disk. */
  readonly loaded: ReadonlyArray<Node>
  /** Paths where nothing was found. */
  readonly absent: ReadonlySet<string>
  /** Entry at a resolved path before any change, looked up now if nobody has. */
  readonly original: (path: string) => Node | undefined
  /**
   * A caller's path as names from the root on. A link at its end is followed, unless the plan has replaced it.
   * `read` reads a small file that is found in the same go.
   */
  readonly locate: (
    given: string,
    options?: { readonly follow?: boolean; readonly read?: ReadFor }
  ) => ReadonlyArray<string>
  /** Resolves a path without following a link, with the last name as the caller wrote it. */
  readonly locateAsSpelled: (given: string) => ReadonlyArray<string>
  readonly find: (names: ReadonlyArray<string>) => Node | undefined
  /** Entry of a directory. `read` reads a small file that nobody has looked at in the same go. */
  readonly child: (directory: DirectoryNode, name: string, read?: ReadFor) => Node | undefined
  /** The names in a directory, sorted. Nothing is looked at: what was planned away may be among them. */
  readonly listed: (directory: DirectoryNode) => ReadonlyArray<string>
  /** The names in a directory as planned, sorted. */
  readonly names: (directory: DirectoryNode) => ReadonlyArray<string>
}

/** Purpose of reading a file: its content is kept, or only its fingerprint. */
export type ReadFor = "content" | "fingerprint" | undefined

export const openView = (root: Root, symlinks: SymlinkPolicy): View => {
  const loaded: Array<Node> = []
  const byPath = new Map<string, Node>()
  const absent = new Set<string>()
  /** Paths as callers gave them, which are resolved once, with a link at their end left alone. */
  const located = new Map<string, ReadonlyArray<string>>()
  const remember = (place: NodePlace): Node | undefined => {
    const node = nodeAt(place)
    if (node === undefined) return undefined
    loaded.push(node)
    byPath.set(place.path, node)
    place.home?.children.set(place.name, node)
    place.home?.found?.set(place.name, node)
    return node
  }
  const top = withResolved(root, ".", (place) => remember({ ...place, home: undefined }))
  if (top?.kind !== "directory") throw notFound(".")

  const child: View["child"] = (directory, name, read) => {
    if (!directory.children.has(name)) {
      const { origin } = directory
      if (origin !== undefined) {
        const listed = withResolved(root, join(origin.path, name), (place) => {
          const node = place.name === name ? remember({ ...place, home: directory }) : undefined
          if (read !== undefined && node?.kind === "file") readSmall(root, node, place, { keep: read === "content" })
          return place.name
        })
        // Another spelling of a name: one entry is one node, under the name that is listed.
        if (listed !== name) return child(directory, listed)
      }
      if (!directory.children.has(name)) {
        directory.children.set(name, undefined)
        if (origin !== undefined) absent.add(join(origin.path, name))
      }
    }
    return directory.children.get(name)
  }

  /** Looks at every directory on the way to a path that nobody has looked at yet, in one go. */
  const lookAlong = (names: ReadonlyArray<string>): void => {
    let directory: DirectoryNode = top
    let held = root.held
    try {
      for (const [index, name] of names.slice(0, -1).entries()) {
        const isNew = !directory.children.has(name)
        const path = names.slice(0, index + 1).join("/")
        if (!isNew && directory.children.get(name)?.origin?.path !== path) return
        const next = root.technique.enter(held.base, name)
        if (held !== root.held) held.close()
        held = next
        const node = isNew
          ? remember({ path, name, found: held, directory: held, home: directory })
          : directory.children.get(name)
        if (node?.kind !== "directory") return
        directory = node
      }
    } catch (error) {
      // A missing path, or one that is no directory, is found out step by step, where it matters.
      if (!isErrno(error, "ENOENT", "ENOTDIR", "ELOOP", "EACCES")) throw error
    } finally {
      if (held !== root.held) held.close()
    }
  }

  /** The directory that a path lies in, if somebody has looked at it and it is where it was. */
  const knownParent = (names: ReadonlyArray<string>): DirectoryNode | undefined => {
    let directory: Node | undefined = top
    for (const name of names.slice(0, -1)) {
      if (directory?.kind === "directory") directory = directory.children.get(name)
    }
    const path = names.length > 1 ? names.slice(0, -1).join("/") : "."
    return directory?.kind === "directory" && directory.origin?.path === path ? directory : undefined
  }

  /** Remembers what was found at a place while it is held. */
  const adopt = (place: Place, names: ReadonlyArray<string>, read: ReadFor): void => {
    if (place.found === undefined || names.length === 0) return
    if (names.length > 1 && knownParent(names) === undefined) lookAlong(names)
    const home = knownParent(names)
    if (home === undefined || home.children.has(place.name)) return
    const node = remember({ ...place, home })
    if (read !== undefined && node?.kind === "file") readSmall(root, node, place, { keep: read === "content" })
  }

  const listed = (directory: DirectoryNode): ReadonlyArray<string> => {
    const { origin } = directory
    if (origin !== undefined) directory.listed = withResolved(root, origin.path, (place) => listNames(root, place))
    return [...new Set([...(directory.listed ?? []), ...directory.children.keys()])].toSorted()
  }

  const find = (names: ReadonlyArray<string>): Node | undefined => {
    if (names.length > 2 && knownParent(names) === undefined) lookAlong(names)
    return names.reduce<Node | undefined>(
      (node, name) => (node?.kind === "directory" ? child(node, name) : undefined),
      top
    )
  }

  return {
    root,
    top,
    loaded,
    absent,
    original: (path) => {
      const known = byPath.get(path)
      if (known !== undefined || absent.has(path)) return known
      return withResolved(root, path, (place) => nodeAt({ ...place, home: undefined }))
    },
    find,
    child,
    locate: (given, { follow = true, read } = {}) => {
      const direct =
        located.get(given) ??
        withPlace(root, given, { symlinks, follow: false }, (place) => {
          const names = namesOf(place.path)
          adopt(place, names, read)
          located.set(given, names)
          return names
        })
      if (!follow) return direct
      const node = find(direct)
      const isLinkOnDisk = node?.kind === "symlink" && node.origin?.path === direct.join("/")
      return isLinkOnDisk ? namesOf(withPlace(root, given, { symlinks }, ({ path }) => path)) : direct
    },
    locateAsSpelled: (given) =>
      withPlace(root, given, { symlinks, follow: false }, ({ path, spelled }) => [
        ...namesOf(path).slice(0, -1),
        spelled
      ]),
    listed,
    names: (directory) => listed(directory).filter((name) => child(directory, name) !== undefined)
  }
}

/** The state of a node as {@link WorkspaceService.fingerprint} words it. */
export const stateOfNode = (root: Root, node: Node | undefined): string => {
  if (node === undefined) return "absent"
  if (node.kind !== "file") return node.kind
  if (node.fingerprint !== undefined) return node.fingerprint
  return (node.content === undefined ? largeState(node) : undefined) ?? contentState(root, node)
}

const linkPrefix = "symlink:"

/** The state of a node as the history keeps it: that of a link tells where it leads. */
export const recordedState = (root: Root, node: Node | undefined): string =>
  node?.kind === "symlink" && node.target !== undefined ? linkPrefix + node.target : stateOfNode(root, node)

/** The state of a node in the form that another state of it has: by content, or by size and time. */
export const stateLike = (root: Root, node: Node | undefined, other: string | undefined): string => {
  if (node?.kind === "symlink" && other?.startsWith(linkPrefix) === true) return recordedState(root, node)
  if (node?.kind !== "file" || other === undefined) return stateOfNode(root, node)
  if (other.startsWith("stat:")) return largeState(node) ?? contentState(root, node)
  return other.startsWith("sha256:") ? contentState(root, node) : stateOfNode(root, node)
}

const largeState = ({ origin }: FileNode): string | undefined =>
  origin && stateByStats({ size: origin.size, mtimeMs: origin.modified, ino: origin.identity.number })

/** The fingerprint of a file's content, however large it is. */
export const contentState = (root: Root, node: FileNode): string =>
  (node.fingerprint ??= node.content === undefined ? fingerprintOnDisk(root, node) : fingerprintContent(node.content))

/** Opens a file on disk for as long as `use` runs. */
export const withFile = <A>(root: Root, node: FileNode, use: (descriptor: number) => A): A => {
  if (node.origin === undefined) throw new Error("a file that is not on disk can't be opened")
  return withResolved(root, node.origin.path, (place) => {
    const descriptor = openFile(root, place)
    try {
      return use(descriptor)
    } finally {
      closeSync(descriptor)
    }
  })
}

/** Permission bits; links have none of their own. */
export const modeOf = (node: Node | undefined): number | undefined => {
  if (node?.kind !== "file" && node?.kind !== "directory") return undefined
  return node.mode ?? node.origin?.mode
}

export const join = (directory: string, name: string): string => (directory === "." ? name : `${directory}/${name}`)

const namesOf = (path: string): ReadonlyArray<string> => (path === "." ? [] : path.split("/"))

const smallBytes = 64 * 1024

/** Longer than the tick of any file system's clock: a later change of a file has another time, or is this recent. */
const tickMs = 20

const fingerprintOnDisk = (root: Root, node: FileNode): string =>
  withFile(root, node, (descriptor) => fingerprintOpen(node.origin?.path ?? "", descriptor, fstatSync(descriptor).size))

/** Small files are read into the same memory, one after the other, where only their fingerprints are wanted. */
const scratch = Buffer.allocUnsafeSlow(smallBytes)

/** The fingerprint of an open file. */
export const fingerprintOpen = (given: string, descriptor: number, size: number): string =>
  size > smallBytes
    ? fingerprintDescriptor(descriptor)
    : fingerprintBytes(
        readDescriptor(descriptor, { given, size, maxBytes: Infinity, allocate: (bytes) => scratch.subarray(0, bytes) })
      )

/** Reads a small file at a place that is held anyway. */
const readSmall = (root: Root, node: FileNode, place: Place, { keep }: { readonly keep: boolean }): void => {
  const size = node.origin?.size ?? 0
  if (size > smallBytes) return
  const descriptor = openFile(root, place)
  try {
    if (keep) {
      node.bytes = readDescriptor(descriptor, { given: place.path, size, maxBytes: Infinity })
      node.fingerprint = fingerprintBytes(node.bytes)
    } else node.fingerprint = fingerprintOpen(place.path, descriptor, size)
  } finally {
    closeSync(descriptor)
  }
}

/** The names in a directory, sorted. */
export const listNames = ({ commits }: Root, { found, given }: Place): ReadonlyArray<string> => {
  if (found === undefined) throw notFound(given)
  if (!found.stats.isDirectory()) throw notADirectory(given)
  const names = readdirSync(found.base)
  if (names.some((name) => name.includes("\u{FFFD}"))) refuseUnnameable(found.base, given)
  return names.filter((name) => !commits.own(name)).toSorted()
}

/** A name that is not UTF-8 can't be written down, so what has it could not be brought back. */
const refuseUnnameable = (directory: string, given: string): void => {
  const bad = readdirSync(directory, { encoding: "buffer" }).find((name) => !isUtf8(name))
  if (bad === undefined) return
  throw makeToolError(
    "write_failed",
    `${given} holds a name that is not UTF-8 (${escaped(bad)}); nothing was changed`,
    {
      suggestion: "Rename or delete it with a command: it could not be brought back by undo.",
      details: { path: given }
    }
  )
}

const escaped = (name: Buffer): string => JSON.stringify(name.toString("latin1"))

interface NodePlace extends Pick<Place, "path" | "name" | "found" | "directory"> {
  readonly home: DirectoryNode | undefined
}

const nodeAt = ({ found, path, name, directory, home }: NodePlace): Node | undefined => {
  if (found === undefined) return undefined
  const { stats } = found
  const { size, mtimeMs, ctimeMs, mode, nlink, uid, gid } = stats
  const origin: Origin = {
    path,
    identity: identityOf(stats),
    size,
    modified: mtimeMs,
    changed: ctimeMs,
    isRecent: Date.now() - ctimeMs < tickMs,
    mode: mode & 0o7777,
    links: nlink,
    owner: { uid, gid },
    home,
    name
  }
  if (stats.isFile()) return { kind: "file", origin }
  if (stats.isDirectory()) return { kind: "directory", origin, children: new Map(), found: new Map() }
  if (!stats.isSymbolicLink()) return { kind: "other", origin }
  return { kind: "symlink", origin, target: readLink(`${directory.base}/${name}`, path) }
}

/** Refuses a file on disk that this process may not write. */
export const checkWritable = (view: View, { path, owner, mode }: Origin, given: string): void => {
  // For the owner the mode says it all; others may have rights that it does not show.
  if (owner.uid === process.geteuid?.() && (mode & 0o200) !== 0) return
  withSpots(view.root, (spots) => {
    try {
      accessSync(pathOf(spots.at(path)), constants.W_OK)
    } catch (error) {
      throw fromErrno(error, given)
    }
  })
}
