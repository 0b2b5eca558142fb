import { resolve } from "node:path"

import type { DirectoryEntry, FileKind, GlobOptions, GlobResult, ToolError } from "@haft/core"
import * as Effect from "effect/Effect"
import type { FileSystemAdapter } from "fast-glob"

import { checkPattern } from "./glob-pattern.ts"
import { type IgnoreRules, noRules, withIgnoreFile } from "./ignore-rules.ts"

/** How a glob reads the workspace: both contained, both synchronous, both throwing what the system says. */
export interface GlobSource {
  /** The entries of a directory, relative to the workspace; `.` is the workspace itself. Links are not followed. */
  readonly list: (directory: string) => ReadonlyArray<DirectoryEntry>
  /** A file's content, or undefined when there is none to read. */
  readonly read: (path: string) => Uint8Array | undefined
}

/**
 * The regular files below `directory` whose path, relative to it, matches. fast-glob decides what matches and
 * where to look; every directory it asks for is read through the source, so it sees nothing the source does not.
 */
export const globFiles = Effect.fnUntraced(function* (
  source: GlobSource,
  directory: string,
  givenPattern: string,
  { limit = 1000, maxDepth = Number.POSITIVE_INFINITY, respectIgnore = false }: GlobOptions = {}
): Effect.fn.Return<GlobResult, ToolError<"invalid_pattern">> {
  // A `**` at the end does not match names with a line break; `**/*` means the same and does.
  const pattern = givenPattern.replace(/^(\.\/+)+/u, "").replace(/(^|\/)\*\*$/u, "$1**/*")
  const problem = checkPattern(pattern)
  if (problem !== undefined) return yield* problem
  const tree = new VisibleTree(source, directory, { maxDepth, respectIgnore })
  const found = yield* Effect.promise(async (signal) => {
    // Loaded by the first glob: most short-lived hosts never see one.
    const { default: fastGlob } = await import("fast-glob")
    return fastGlob(pattern, {
      cwd: root,
      fs: fileSystem(tree, signal),
      dot: true,
      followSymbolicLinks: false,
      suppressErrors: true,
      // Overlapping alternatives find a file twice; that is seen after sorting, at a fraction of the cost.
      unique: false
    })
  })
  const sorted = found.toSorted()
  const paths = sorted.filter((path, index) => path !== sorted[index - 1])
  return { paths: paths.slice(0, limit), total: paths.length, unreadable: tree.unreadable }
})

/** What a glob may see: no `.git`, nothing through a link, nothing too deep, nothing ignored if so asked. */
class VisibleTree {
  unreadable = 0
  readonly #source: GlobSource
  readonly #start: string
  readonly #maxDepth: number
  readonly #rules = new Map<string, IgnoreRules>()
  readonly #respectIgnore: boolean

  constructor(source: GlobSource, start: string, options: { maxDepth: number; respectIgnore: boolean }) {
    this.#source = source
    this.#start = start === "." ? "" : `${start}/`
    this.#maxDepth = options.maxDepth
    this.#respectIgnore = options.respectIgnore
    this.#rules.set("", this.#rulesAbove(start))
  }

  /** The visible entries of a directory below the start; none for what is not a visible directory. */
  list(directory: string): ReadonlyArray<DirectoryEntry> {
    if (depthOf(directory) > this.#maxDepth) return []
    const inherited = this.#rules.get(directory) ?? this.#enter(directory)
    if (inherited === undefined) return []
    const entries = this.#read(directory)
    const prefix = this.#start + prefixOf(directory)
    const hasIgnoreFile = this.#respectIgnore && entries.some(({ name }) => name === ".gitignore")
    const rules = hasIgnoreFile ? this.#extend(inherited, prefix) : inherited
    const visible = entries.filter(
      ({ name, kind }) => name !== ".git" && !rules.ignores(prefix + name, kind === "directory")
    )
    for (const { name, kind } of visible) {
      if (kind === "directory") this.#rules.set(prefixOf(directory) + name, rules)
    }
    return visible
  }

  find(path: string): DirectoryEntry | undefined {
    const cut = path.lastIndexOf("/")
    return this.list(path.slice(0, Math.max(cut, 0))).find(({ name }) => name === path.slice(cut + 1))
  }

  // fast-glob starts at the fixed part of a pattern without having seen what leads there.
  #enter(directory: string): IgnoreRules | undefined {
    this.list(directory.slice(0, Math.max(directory.lastIndexOf("/"), 0)))
    return this.#rules.get(directory)
  }

  #read(directory: string): ReadonlyArray<DirectoryEntry> {
    try {
      return this.#source.list((this.#start + directory).replace(/\/$/u, "") || ".")
    } catch {
      this.unreadable++
      return []
    }
  }

  #rulesAbove(start: string): IgnoreRules {
    if (!this.#respectIgnore || start === "." || start === "") return noRules
    const parts = start.split("/")
    let rules = noRules
    for (const depth of parts.keys()) {
      rules = this.#extend(rules, prefixOf(parts.slice(0, depth).join("/")))
      // A directory that is ignored itself was asked for by name, so the rules above it do not count.
      if (rules.ignores(parts.slice(0, depth + 1).join("/"), true)) rules = noRules
    }
    return rules
  }

  #extend(rules: IgnoreRules, prefix: string): IgnoreRules {
    const content = this.#source.read(`${prefix}.gitignore`)
    return content === undefined ? rules : withIgnoreFile(rules, prefix, content)
  }
}

const prefixOf = (directory: string): string => (directory === "" ? "" : `${directory}/`)
const depthOf = (directory: string): number => (directory === "" ? 0 : directory.split("/").length)

// fast-glob thinks in absolute paths: the start is its root directory.
const root = resolve("/")
const relativeTo = (path: string): string => path.slice(root.length).replaceAll("\\", "/")

/** Directories between two moments for everybody else in this process. */
const directoriesPerTurn = 64

const fileSystem = (tree: VisibleTree, signal: AbortSignal): Partial<FileSystemAdapter> => {
  let read = 0
  const readdir = (path: string, _options: unknown, callback: Callback<Array<Dirent>>): void => {
    // Nobody waits any more. Answering would only empty fast-glob's queue, each answer from within the last.
    if (signal.aborted) return
    const entries = tree.list(relativeTo(path)).map((entry) => new Dirent(entry.name, entry.kind))
    if (++read % directoriesPerTurn === 0) setImmediate(callback, null, entries)
    else callback(null, entries)
  }
  const lstat = (path: string, callback: Callback<Dirent>): void => {
    const entry = tree.find(relativeTo(path))
    if (entry === undefined) return callback(missing, new Dirent("", "other"))
    callback(null, new Dirent(entry.name, entry.kind))
  }
  return { readdir, lstat, stat: lstat } as unknown as Partial<FileSystemAdapter>
}

type Callback<A> = (error: NodeJS.ErrnoException | null, value: A) => void

const missing: NodeJS.ErrnoException = Object.assign(new Error("not there"), { code: "ENOENT" })

class Dirent {
  readonly name: string
  readonly #kind: FileKind

  constructor(name: string, kind: FileKind) {
    this.name = name
    this.#kind = kind
  }

  isFile(): boolean {
    return this.#kind === "file"
  }

  isDirectory(): boolean {
    return this.#kind === "directory"
  }

  isSymbolicLink(): boolean {
    return this.#kind === "symlink"
  }

  // fast-glob passes these on for files it finds without a wildcard; nobody asks them.
  isBlockDevice(): boolean {
    return false
  }

  isCharacterDevice(): boolean {
    return false
  }

  isFIFO(): boolean {
    return false
  }

  isSocket(): boolean {
    return false
  }
}
