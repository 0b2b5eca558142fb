import { createHash } from "node:crypto"
import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync
} from "node:fs"
import { setImmediate } from "node:timers/promises"

import { controlFileAt, controlFiles, dependencyDirectories } from "@haft/core/internal"

import type { Held } from "../workspace/paths/handles.ts"
import type { OpenRoot } from "../workspace/paths/open-roots.ts"

/** Role of a file in a repository's own directory. */
export type GitRole = "config" | "hook" | "commondir" | "gitfile"

/** One file of a workspace that other programs run or trust. */
export interface SeenFile {
  /** Relative to the root, a character for each byte: not every name is UTF-8. */
  readonly path: string
  readonly kind: "file" | "symlink" | "other"
  /** Of its content, or where a link leads. */
  readonly hash: string
  /** Undefined where it is too large to be kept. */
  readonly content: Buffer | undefined
  readonly mode: number
  readonly readBy: string
  readonly git: GitRole | undefined
  /** Below a directory of installed packages. */
  readonly isDependency: boolean
}

/** An open directory to look for control files in. */
export type ScannedRoot = Pick<OpenRoot, "technique" | "held">

export interface Snapshot {
  readonly files: ReadonlyMap<string, SeenFile>
  /** Control files and directories themselves, outside of installed packages. */
  readonly controls: ReadonlyArray<string>
}

/** Larger files are compared by their content, but not kept. */
const mostKept = 256 * 1024
/** A directory that changed this long before it was read may have changed again within the same tick of the clock. */
const tickMs = 100
/** Directories that are looked at before others get a turn. */
const slice = 500

/** A directory of the workspace, as it was when it was last read. */
interface Directory {
  /** Relative to the root, a character for each byte. */
  readonly path: string
  /** Where this process reaches it. */
  readonly place: string | Buffer
  /** Its own name and its parent's. */
  readonly names: ReadonlyArray<string>
  readonly isDependency: boolean
  changed: number
  inode: number
  readAt: number
  children: ReadonlyMap<string, Directory>
  controls: ReadonlyArray<{ readonly name: string; readonly readBy: string }>
  isRepository: boolean
}

/**
 * Finds control files. A directory is read again only when it has changed since: what a command made shows in its
 * parent's change time, which no command can set.
 */
export class ControlFileScanner {
  readonly #root: ScannedRoot
  readonly #top: Directory
  #dependencies: ReadonlyMap<string, SeenFile> = new Map()

  constructor(root: ScannedRoot) {
    this.#root = root
    this.#top = unread(root, "", [], false)
  }

  /** `skipDependencies` takes what the last scan found below directories of installed packages. */
  async scan({ skipDependencies = false }: { readonly skipDependencies?: boolean } = {}): Promise<Snapshot> {
    const seen = new Map<string, SeenFile>(skipDependencies ? this.#dependencies : [])
    const dependencies = new Map<string, SeenFile>()
    const found: Array<string> = []
    const own = new Collector(this.#root, seen, false)
    const installed = new Collector(this.#root, dependencies, true)
    const pending = [this.#top]
    for (let count = 1; ; count++) {
      const directory = pending.pop()
      if (directory === undefined) break
      if (!this.#refresh(directory)) continue
      const { path, isDependency, controls, isRepository } = directory
      const collector = isDependency ? installed : own
      // A repository without a working tree: git finds it by what is in it.
      if (isRepository) collector.repository(path)
      for (const { name, readBy } of controls) {
        collector.control(below(path, name), name, readBy)
        if (!isDependency) found.push(below(path, name))
      }
      for (const child of directory.children.values()) {
        if (!(skipDependencies && child.isDependency)) pending.push(child)
      }
      if (count % slice === 0) await setImmediate()
    }
    if (!skipDependencies) {
      this.#dependencies = dependencies
      for (const [path, file] of dependencies) seen.set(path, file)
    }
    return { files: seen, controls: found }
  }

  /** Reads a directory again where it has changed. False where there is none any more, or not for this user to read. */
  #refresh(directory: Directory): boolean {
    try {
      const { ctimeMs, ino } = lstatSync(directory.place)
      if (directory.changed === ctimeMs && directory.inode === ino && directory.readAt - ctimeMs > tickMs) return true
      const readAt = Date.now()
      const entries = readdirSync(directory.place, { withFileTypes: true, encoding: "latin1" })
      this.#fill(directory, entries)
      Object.assign(directory, { changed: ctimeMs, inode: ino, readAt })
      return true
    } catch {
      return false
    }
  }

  #fill(directory: Directory, entries: ReadonlyArray<Dirent>): void {
    const { path, names, isDependency, children: before } = directory
    const controls: Array<{ readonly name: string; readonly readBy: string }> = []
    const children = new Map<string, Directory>()
    for (const entry of entries) {
      const { name } = entry
      const control = couldBeControl(name, names) ? controlFileAt([...names, name]) : undefined
      if (control !== undefined) controls.push({ name, readBy: control.readBy })
      else if (entry.isDirectory()) {
        const isInstalled = isDependency || dependencyDirectories.includes(name)
        children.set(
          name,
          before.get(name) ?? unread(this.#root, below(path, name), [...names.slice(-1), name], isInstalled)
        )
      }
    }
    directory.controls = controls
    directory.children = children
    directory.isRepository =
      children.has("objects") && children.has("refs") && entries.some(({ name }) => name === "HEAD")
  }
}

const unread = (root: ScannedRoot, path: string, names: ReadonlyArray<string>, isDependency: boolean): Directory => ({
  path,
  place: isAscii(path) ? `${root.held.base}/${path}` : placeOf(root, path),
  names,
  isDependency,
  changed: Number.NaN,
  inode: 0,
  readAt: 0,
  children: new Map(),
  controls: [],
  isRepository: false
})

// Other names have to be given as their bytes.
const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length

// Names of control files that have no dot in front, as one expression.
const undotted = new RegExp(
  `^(?:${controlFiles
    .map(({ path }) => path.slice(path.lastIndexOf("/") + 1))
    .filter((name) => !name.startsWith("."))
    .map((name) => name.replace("*", "").replaceAll(".", String.raw`\.`))
    .join("|")})`,
  "iu"
)

// Most names are none: this is asked for every entry of a workspace.
const couldBeControl = (name: string, names: ReadonlyArray<string>): boolean =>
  name.startsWith(".") || names.at(-1)?.startsWith(".") === true || undotted.test(name)

/** Adds what it is shown to a snapshot. */
class Collector {
  readonly #root: ScannedRoot
  readonly #seen: Map<string, SeenFile>
  readonly #isDependency: boolean

  constructor(root: ScannedRoot, seen: Map<string, SeenFile>, isDependency: boolean) {
    this.#root = root
    this.#seen = seen
    this.#isDependency = isDependency
  }

  control(path: string, name: string, readBy: string): void {
    if (name.toLowerCase() !== ".git") return this.#all(path, readBy)
    if (this.#isDirectory(path)) return this.repository(path)
    this.#file(path, "git", "gitfile")
  }

  /** Control files in a repository's own directory: what git runs or trusts. Objects, refs, the index and logs are excluded. */
  repository(path: string): void {
    for (const name of ["config", "config.worktree"]) this.#file(below(path, name), "git", "config")
    this.#file(below(path, "commondir"), "git", "commondir")
    this.#all(below(path, "hooks"), "git", "hook")
    this.#link(below(path, "worktrees"))
    for (const name of this.#names(below(path, "worktrees"))) {
      const worktree = below(below(path, "worktrees"), name)
      this.#link(worktree)
      this.#file(below(worktree, "commondir"), "git", "commondir")
      this.#file(below(worktree, "config.worktree"), "git", "config")
    }
    this.#modules(below(path, "modules"), 0)
  }

  // A submodule's name may have slashes.
  #modules(path: string, depth: number): void {
    this.#link(path)
    if (depth > 8) return
    for (const name of this.#names(path)) {
      const inner = below(path, name)
      if (this.#names(inner).includes("HEAD")) this.repository(inner)
      else this.#modules(inner, depth + 1)
    }
  }

  // Git would find a repository behind it that nobody has judged.
  #link(path: string): void {
    if (lstatSync(placeOf(this.#root, path), { throwIfNoEntry: false })?.isSymbolicLink() === true) {
      this.#file(path, "git", "config")
    }
  }

  #all(path: string, readBy: string, git?: GitRole): void {
    if (!this.#isDirectory(path)) return this.#file(path, readBy, git)
    for (const name of this.#names(path)) this.#all(below(path, name), readBy, git)
  }

  #isDirectory(path: string): boolean {
    return lstatSync(placeOf(this.#root, path), { throwIfNoEntry: false })?.isDirectory() === true
  }

  #names(path: string): ReadonlyArray<string> {
    try {
      return this.#isDirectory(path) ? readdirSync(placeOf(this.#root, path), { encoding: "latin1" }) : []
    } catch {
      return []
    }
  }

  #file(path: string, readBy: string, git?: GitRole): void {
    const looked = lookAt(this.#root, path)
    if (looked === undefined) return
    this.#seen.set(path, { path, ...looked, readBy, git, isDependency: this.#isDependency })
  }
}

/** The control files of a repository in a directory that git would take for one. */
export const repositoryFiles = (root: ScannedRoot, path: string): ReadonlyMap<string, SeenFile> => {
  const seen = new Map<string, SeenFile>()
  new Collector(
    root,
    seen,
    path.split("/").some((name) => dependencyDirectories.includes(name))
  ).repository(path)
  return seen
}

/** One file for a snapshot, whatever reads it. */
export const lookAtFile = (root: ScannedRoot, path: string): SeenFile | undefined => {
  const looked = lookAt(root, path)
  return looked === undefined ? undefined : { path, ...looked, readBy: "haft", git: undefined, isDependency: false }
}

type Looked = Pick<SeenFile, "kind" | "hash" | "content" | "mode">

/** Entry at a path, without following a link anywhere on the way. */
const lookAt = (root: ScannedRoot, path: string): Looked | undefined => {
  try {
    return inDirectoryOf(root, path, (directory, name) => {
      const place = Buffer.concat([Buffer.from(`${directory.base}/`), name])
      const found = lstatSync(place)
      const mode = found.mode & 0o777
      if (found.isSymbolicLink()) {
        const target = readlinkSync(place, { encoding: "latin1" })
        return { kind: "symlink", hash: `link ${target}`, content: undefined, mode }
      }
      if (!found.isFile()) return { kind: "other", hash: `other ${found.mode}`, content: undefined, mode }
      const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
      const descriptor = openSync(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      try {
        return { kind: "file", mode, ...readAll(descriptor) }
      } finally {
        closeSync(descriptor)
      }
    })
  } catch {
    return undefined
  }
}

const readAll = (descriptor: number): Pick<SeenFile, "hash" | "content"> => {
  const { size, mtimeMs, ctimeMs, ino } = fstatSync(descriptor)
  if (size > mostKept) return { hash: `large ${ino} ${size} ${mtimeMs} ${ctimeMs}`, content: undefined }
  const content = Buffer.alloc(size)
  let length = 0
  for (let count = 1; count > 0 && length < size; length += count) {
    count = readSync(descriptor, content, length, size - length, length)
  }
  return {
    hash: createHash("sha256").update(content.subarray(0, length)).digest("hex"),
    content: content.subarray(0, length)
  }
}

/** Holds the directory around a path, with no link on the way, and hands over its last name. */
export const inDirectoryOf = <A>(root: ScannedRoot, path: string, use: (directory: Held, name: Buffer) => A): A => {
  const names = path.split("/").map((name) => Buffer.from(name, "latin1"))
  const last = names.pop() ?? Buffer.alloc(0)
  let directory = root.held
  try {
    for (const name of names) {
      const outer = directory
      directory = root.technique.enter(outer.base, name)
      if (outer !== root.held) outer.close()
    }
    return use(directory, last)
  } finally {
    if (directory !== root.held) directory.close()
  }
}

const below = (path: string, name: string): string => (path === "" ? name : `${path}/${name}`)

const placeOf = (root: ScannedRoot, path: string): Buffer =>
  Buffer.concat([Buffer.from(`${root.held.base}/`), Buffer.from(path, "latin1")])

/** A path of a snapshot for people. */
export const shownPath = (path: string): string => Buffer.from(path, "latin1").toString("utf8")
