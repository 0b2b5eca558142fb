import { lstatSync, readlinkSync } from "node:fs"
import { isAbsolute, relative as relativePath, resolve, sep } from "node:path"

import { makeToolError, type SymlinkPolicy, type ToolError } from "@haft/core"

import { fromErrno, isErrno, nameTooLong, replacedMeanwhile } from "../../errno.ts"
import { CommitsUnderWay } from "../commit/temporary-name.ts"
import { ReadLock } from "../read-lock.ts"
import { LatelyHeld } from "./directory-handle-cache.ts"
import { heldAgain, type Held, type Technique } from "./handles.ts"
import { nameOnDisk } from "./name-on-disk.ts"
import { type NamedRoots, rootAndRest } from "./named-roots.ts"
import { type OpenRoot, openSharedRoot } from "./open-roots.ts"
import { checkWindowsName } from "./windows-names.ts"

/** An open workspace root: everything inside is reached from here. */
export interface Root {
  /** Absolute, without links. */
  readonly path: string
  /** Path of the root as the host named it, perhaps through a link. */
  readonly alias: string
  readonly technique: Technique
  readonly held: Held
  readonly close: () => void
  readonly lately: LatelyHeld
  readonly commits: CommitsUnderWay
  readonly reads: ReadLock
  /** Present where the first name of every path is that of a root. */
  readonly named?: NamedRoots
  /** A directory with a link to each named root. */
  readonly links?: string
}

/** Where a path ends, with the directory around it held. */
export interface Place {
  /** As the caller gave it, for messages. */
  readonly given: string
  /** Relative to the root, links resolved, names as they are listed; `.` for the root itself. */
  readonly path: string
  /** The deepest directory on the way that exists; for the root, the root itself. */
  readonly directory: Held
  /** The last name, as its directory lists it; empty for the root. */
  readonly name: string
  /** The last name as the caller wrote it. */
  readonly spelled: string
  /** Open handle of the entry; undefined when nothing is there. */
  readonly found: Held | undefined
  /** Names of directories on the way that do not exist, outermost first. */
  readonly missing: ReadonlyArray<string>
  /** True when the first missing name is there, but is no directory. */
  readonly blocked: boolean
}

export interface ResolveOptions {
  readonly symlinks: SymlinkPolicy
  /** False leaves a link at the end of the path alone. True by default. */
  readonly follow?: boolean
}

export const openRoot = (directory: string, technique?: Technique): Root => asRoot(openSharedRoot(directory, technique))

/** A root of which everything inside is reached, with what is remembered on the way. */
export const asRoot = <R extends OpenRoot & Pick<Root, "named">>(opened: R): R & Root => ({
  ...opened,
  lately: new LatelyHeld((names) => {
    const { root, rest } = rootAndRest(opened, names.join("/"))
    return `${root === "/" ? "" : root}/${rest}`
  }),
  commits: new CommitsUnderWay(),
  reads: new ReadLock()
})

/** True for the names of a root, or of the top of several. */
export const isRootItself = ({ named }: Root, names: ReadonlyArray<string>): boolean =>
  names.length < (named === undefined ? 1 : 2)

export const closeRoot = ({ close, lately }: Root): void => {
  lately.forget()
  close()
}

/** Resolves a path step by step inside the root and hands over what is at its end, held for as long as `use` runs. */
export const withPlace = <A>(root: Root, given: string, options: ResolveOptions, use: (place: Place) => A): A =>
  withHeldPlace(root, openPlace(root, given, options), use)

/** Resolves a path and holds it open until it is released. */
export const openPlace = (root: Root, given: string, options: ResolveOptions): Place =>
  findPlace(root, given, namesOf(root, given), options)

export const releasePlace = (root: Root, { found, directory }: Place): void => {
  found?.close()
  if (directory !== root.held) directory.close()
}

/** Resolves a path that was resolved before: it holds no links, and a link there now is refused. */
export const withResolved = <A>(root: Root, path: string, use: (place: Place) => A): A =>
  withHeldPlace(root, openResolved(root, path), use)

/** Resolves such a path and holds it open until it is released. */
export const openResolved = (root: Root, path: string): Place =>
  findPlace(root, path, path === "." ? [] : path.split("/"), { symlinks: "deny", follow: false })

/** Holds the directory below the root that names lead to. */
export const enterAll = (root: Root, path: string, names: ReadonlyArray<string>): Held => {
  const known = root.lately.find(names)
  if (known !== undefined) return known
  let directory = root.held
  for (const name of names) {
    const outer = directory
    try {
      directory = root.technique.enter(outer.base, name)
    } catch (error) {
      throw fromErrno(error, path)
    } finally {
      if (outer !== root.held) outer.close()
    }
  }
  return root.lately.keep(names, directory)
}

/** Hands over a place that is held, and releases it. */
export const withHeldPlace = <A>(root: Root, place: Place, use: (place: Place) => A): A => {
  try {
    return use(place)
  } finally {
    releasePlace(root, place)
  }
}

/** Levels above a path that are looked up among the directories held lately. */
const nearby = 3

// As many as Linux follows before it gives up.
const maximumLinks = 40

const findPlace = (
  root: Root,
  given: string,
  names: ReadonlyArray<string>,
  { symlinks, follow = true }: ResolveOptions
): Place => {
  const { technique, lately } = root
  let pending = names
  let resolved: Array<string> = []
  let directory = root.held
  let links = 0
  let spelled: string | undefined
  if (names.length > 1 && !names.includes("..")) {
    // The directory around it, or one a little further out: a walk down a chain of directories takes a step at a time.
    for (let known = names.length - 1; known > 0 && known >= names.length - nearby; known--) {
      const outer = names.slice(0, known)
      const held = lately.find(outer)
      if (held === undefined) continue
      ;[directory, resolved, pending] = [held, outer, names.slice(known)]
      break
    }
  }
  const release = () => {
    if (directory !== root.held) directory.close()
  }
  const startOver = (names: Array<string>) => {
    release()
    directory = root.held
    pending = names
    resolved = []
  }

  try {
    while (pending.length > 0) {
      const [name = "", ...rest] = pending
      if (name === "..") {
        const left = resolved.pop()
        if (left === undefined) throw outside(given)
        const beside = root.named !== undefined && resolved.length === 0 ? besideRoot(root, left, rest) : undefined
        if (root.named !== undefined && resolved.length === 0 && beside === undefined) throw outside(given)
        startOver(beside ?? [...resolved, ...rest])
        continue
      }
      const isLast = rest.length === 0
      if (isLast && directory !== root.held) directory = lately.keep(resolved, directory)
      const found = lookUp(technique, directory, name, { isLast, follow })
      if (found === "missing" || found === "blocked") {
        if (rest.includes("..")) throw outside(given)
        return {
          given,
          path: [...resolved, ...pending].join("/"),
          directory,
          name: rest.at(-1) ?? name,
          spelled: rest.at(-1) ?? name,
          found: undefined,
          missing: pending.slice(0, -1),
          blocked: found === "blocked"
        }
      }
      if (found === "link") {
        if (symlinks === "deny") throw linkBlocked(given)
        if (++links > maximumLinks) throw tooManyLinks(given)
        startOver([...linkTarget(root, given, `${directory.base}/${name}`, resolved), ...rest])
        continue
      }
      // The top of named roots is haft's own, and its names are compared as they are.
      const isTop = root.named !== undefined && directory === root.held
      const listed = isTop ? name : nameOnDisk(directory, name, isLast && found.stats.isSymbolicLink())
      if (listed !== name) {
        // Held by that name: some file systems give a number of its own to each spelling.
        found.close()
        if (++links > maximumLinks) throw tooManyLinks(given)
        if (isLast) spelled = name
        pending = [listed, ...rest]
        continue
      }
      resolved.push(name)
      if (isLast) {
        const path = resolved.join("/")
        return { given, path, directory, name, spelled: spelled ?? name, found, missing: [], blocked: false }
      }
      release()
      directory = found
      pending = rest
    }
    const found = heldAgain(root.held)
    return { given, path: ".", directory, name: "", spelled: "", found, missing: [], blocked: false }
  } catch (error) {
    release()
    throw fromErrno(error, given)
  }
}

/** Where a link leads that climbs out of one root: perhaps into another. What it means depends on the disk. */
const besideRoot = ({ named }: Root, left: string, rest: ReadonlyArray<string>): Array<string> | undefined => {
  const from = named?.get(left)
  return from === undefined || rest.includes("..") ? undefined : belowNamed(named, resolve(from.path, "..", ...rest))
}

const lookUp = (
  technique: Technique,
  directory: Held,
  name: string,
  { isLast, follow }: { readonly isLast: boolean; readonly follow: boolean }
): Held | "missing" | "blocked" | "link" => {
  try {
    if (!isLast) return technique.enter(directory.base, name)
    const held = technique.hold(directory.base, name)
    if (!follow || !held.stats.isSymbolicLink()) return held
    held.close()
    return "link"
  } catch (error) {
    if (isErrno(error, "ENOENT")) return "missing"
    if (!isErrno(error, "ENOTDIR")) throw error
    const stats = lstatSync(`${directory.base}/${name}`, { throwIfNoEntry: false })
    if (stats === undefined) return "missing"
    return stats.isSymbolicLink() ? "link" : "blocked"
  }
}

/** A link's target as names from the root on; `..` is left in, since what it means depends on the way there. */
const linkTarget = (root: Root, given: string, link: string, parent: ReadonlyArray<string>): Array<string> => {
  const target = readLink(link, given)
  if (target.includes("\0")) throw outside(given)
  if (!isAbsolute(target)) return [...parent, ...splitNames(target)]
  const names = root.named === undefined ? belowRoot(root, target) : belowNamed(root.named, target)
  if (names === undefined) throw outside(given)
  return names
}

/** Where a link leads. It may have become something else since it was seen. */
export const readLink = (link: string, given: string): string => {
  try {
    return readlinkSync(link)
  } catch (error) {
    throw isErrno(error, "EINVAL") ? replacedMeanwhile(given) : fromErrno(error, given)
  }
}

const namesOf = (root: Root, given: string): Array<string> => {
  if (given.includes("\0")) {
    throw makeToolError("invalid_params", "a path can't contain a NUL character", {
      suggestion: "Leave the NUL character out: no file has one in its name.",
      details: { path: given }
    })
  }
  if (!given.isWellFormed()) {
    throw makeToolError("invalid_params", "a path can't contain a lone surrogate", {
      suggestion: "Send the whole character, or remove it."
    })
  }
  if (looksLikeWindows(given) || isOnDrive(given)) throw outside(given)
  const contained = root.named === undefined ? namesInside(root, given) : namesOfNamed(root.named, given)
  if (contained === undefined) throw outside(given)
  if (given.length > 1000 && Buffer.byteLength(given) > 4096) throw nameTooLong(given)
  for (const name of contained) {
    if (name.length > 63 && Buffer.byteLength(name) > 255) throw nameTooLong(given)
    if (process.platform === "win32") checkWindowsName(given, name)
    if (root.commits.own(name)) throw reserved(given)
  }
  return contained
}

const namesInside = (root: Root, given: string): Array<string> | undefined => {
  const relative = given.startsWith(`${root.alias}/`) ? given.slice(root.alias.length + 1) : given
  const names = splitNames(relative)
  const isPlain = !isAbsolute(relative) && !names.includes("..")
  return isPlain ? names : belowRoot(root, resolve(root.alias, given))
}

const namesOfNamed = (named: NamedRoots, given: string): Array<string> | undefined => {
  if (isAbsolute(given)) return belowNamed(named, resolve(given))
  const names: Array<string> = []
  for (const name of splitNames(given)) {
    if (name !== "..") names.push(name)
    else if (names.pop() === undefined) return undefined
  }
  if (names[0] !== undefined && !named.has(names[0])) throw inNoRoot(given, named)
  return names
}

const splitNames = (path: string): Array<string> => {
  const names = (process.platform === "win32" ? path.replaceAll("\\", "/") : path).split("/")
  return names.includes("") || names.includes(".") ? names.filter((name) => name !== "" && name !== ".") : names
}

const belowNamed = (named: NamedRoots | undefined, absolute: string): Array<string> | undefined => {
  for (const { name, ...root } of named?.values() ?? []) {
    const names = belowRoot(root, absolute)
    if (names !== undefined) return [name, ...names]
  }
  return undefined
}

const belowRoot = (root: Pick<Root, "alias" | "path">, absolute: string): Array<string> | undefined => {
  for (const start of [root.alias, root.path]) {
    const path = relativePath(start, absolute)
    if (path === "") return []
    if (path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path)) return splitNames(path)
  }
  return undefined
}

// On Linux and macOS a backslash is a character like any other, but a path in Windows' style that climbs
// or names a drive was meant to leave: it must not pass as a strange file name.
const looksLikeWindows = (path: string): boolean =>
  process.platform !== "win32" && /^(?:[A-Za-z]:[\\/]|\\)|\.\.\\|\\\.\.$/.test(path)

// Relative to the working directory that a process has on a drive: `C:file`.
const isOnDrive = (path: string): boolean => process.platform === "win32" && /^[A-Za-z]:(?![\\/])/.test(path)

const outside = (given: string): ToolError<"path_outside_workspace"> =>
  makeToolError("path_outside_workspace", `${given} is outside the workspace`, {
    suggestion: "Use a path inside the workspace, relative to its root.",
    details: { path: given }
  })

const inNoRoot = (given: string, named: NamedRoots): ToolError<"path_outside_workspace"> =>
  makeToolError("path_outside_workspace", `${given} is outside the workspace: it is in none of its roots`, {
    suggestion: `Begin the path with the name of a root: ${[...named.keys()].join(", ")}.`,
    details: { path: given, roots: [...named.keys()] }
  })

// Listings leave such names out, and a commit that was cut short removes them.
const reserved = (given: string): ToolError<"invalid_params"> =>
  makeToolError("invalid_params", `${given} has a name that haft reserves for temporary files`, {
    suggestion: "Choose another name.",
    details: { path: given }
  })

const linkBlocked = (given: string): ToolError<"symlink_blocked"> =>
  makeToolError("symlink_blocked", `${given} is or goes through a symbolic link, and links are not followed here`, {
    suggestion: "Use the path of the file itself.",
    details: { path: given }
  })

const tooManyLinks = (given: string): ToolError<"symlink_blocked"> =>
  makeToolError("symlink_blocked", `${given} goes through more than ${maximumLinks} symbolic links`, {
    suggestion: "Use the path of the file itself; the links may lead in a circle.",
    details: { path: given }
  })
