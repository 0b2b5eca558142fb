import { randomBytes } from "node:crypto"
import {
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  writeSync,
  fchmodSync,
  readdirSync
} from "node:fs"

import { type Change, type ChangedPath, type CurrentCall, isToolError, makeToolError } from "@haft/core"

import { type Place, type Root, withPlace } from "./contain.ts"
import { fingerprintContent, fingerprintDescriptor, openFile } from "./content.ts"
import { fromErrno, isErrno, notFound } from "./errno.ts"
import { temporaryName } from "./temporary-name.ts"

export interface CommitSettings {
  readonly root: Root
  readonly state: string
  readonly durable: boolean
}

type CallContext = typeof CurrentCall.Service

/** Makes the changes. */
export const commitChanges = (
  settings: CommitSettings,
  changes: ReadonlyArray<Change>,
  call: CallContext
): ReadonlyArray<ChangedPath> => {
  const { root } = settings
  const { symlinks } = call
  for (const [path, state] of call.approvedState ?? []) {
    const now = withPlace(root, path, { symlinks }, (place) => stateOf(root, place))
    if (now !== state) throw stale(path)
  }
  for (const change of changes) {
    if (change.kind === "move" || change.kind === "create_directory" || change.base === undefined) continue
    const now = withPlace(root, change.path, { symlinks }, (place) => stateOf(root, place))
    if (now !== change.base) throw stale(change.path)
  }
  const id = randomBytes(8).toString("hex")
  return changes.flatMap((change, number) => {
    try {
      return applyChange(settings, change, symlinks, temporaryName(id, number))
    } catch (error) {
      if (isErrno(error, "ENOSPC", "EDQUOT", "EIO", "EFBIG")) {
        throw makeToolError("write_failed", `writing failed (${error.code}); nothing was changed`)
      }
      throw isToolError(error) ? error : fromErrno(error, change.kind === "move" ? change.to : change.path)
    }
  })
}

const applyChange = (
  { root, durable }: CommitSettings,
  change: Change,
  symlinks: CallContext["symlinks"],
  temporary: string
): Array<ChangedPath> => {
  if (change.kind === "create_directory") {
    return withPlace(root, change.path, { symlinks }, (place) => {
      if (place.found !== undefined) {
        if (!place.found.stats.isDirectory()) throw exists(change.path)
        return []
      }
      return makeDirectories(root, place, [...place.missing, place.name])
    })
  }
  if (change.kind === "delete") {
    return withPlace(root, change.path, { symlinks, follow: false }, (place) => {
      if (place.found === undefined) throw notFound(change.path)
      if (place.name === "") throw rootStays()
      const before = stateOf(root, place)
      if (!place.found.stats.isDirectory()) {
        unlinkSync(`${place.directory.base}/${place.name}`)
        return [{ path: place.path, kind: "deleted" as const, before, after: "absent", bytesWritten: 0 }]
      }
      if (change.recursive !== true) {
        throw makeToolError("is_directory", `${change.path} is a directory`, { details: { path: change.path } })
      }
      return [
        ...removeTree(root, place.found.base, place.path),
        ...(rmdirSync(`${place.directory.base}/${place.name}`),
        [{ path: place.path, kind: "deleted" as const, before, after: "absent", bytesWritten: 0 }])
      ]
    })
  }
  if (change.kind === "move") {
    return withPlace(root, change.from, { symlinks, follow: false }, (from) => {
      if (from.found === undefined) throw notFound(change.from)
      if (from.name === "") throw rootStays()
      const before = stateOf(root, from)
      const made = withPlace(root, change.to, { symlinks, follow: false }, (to) =>
        to.missing.length > 0 && change.createDirectories === true ? makeDirectories(root, to, to.missing) : []
      )
      return withPlace(root, change.to, { symlinks, follow: false }, (to) => {
        if (to.missing.length > 0) throw notFound(change.to)
        if (to.found !== undefined && change.overwrite !== true) throw exists(change.to)
        renameSync(`${from.directory.base}/${from.name}`, `${to.directory.base}/${to.name}`)
        return [
          ...made,
          { path: from.path, kind: "moved" as const, movedTo: to.path, before, after: before, bytesWritten: 0 }
        ]
      })
    })
  }
  const made = withPlace(root, change.path, { symlinks }, (place) =>
    place.missing.length > 0 && change.createDirectories === true ? makeDirectories(root, place, place.missing) : []
  )
  return withPlace(root, change.path, { symlinks }, (place) => {
    if (place.missing.length > 0) throw notFound(change.path)
    if (place.found?.stats.isDirectory() === true) {
      throw makeToolError("is_directory", `${change.path} is a directory`, { details: { path: change.path } })
    }
    const before = stateOf(root, place)
    const after = fingerprintContent(change.content)
    if (before === after) return made
    const pieces = change.content instanceof Uint8Array ? [change.content] : change.content
    const staged = `${place.directory.base}/${temporary}`
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
    const descriptor = openSync(staged, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666)
    let bytesWritten = 0
    try {
      for (const piece of pieces) {
        for (let done = 0; done < piece.length;) done += writeSync(descriptor, piece, done)
        bytesWritten += piece.length
      }
      const mode = change.mode ?? (place.found === undefined ? undefined : place.found.stats.mode & 0o7777)
      if (mode !== undefined) fchmodSync(descriptor, mode)
      if (durable) fsyncSync(descriptor)
      renameSync(staged, `${place.directory.base}/${place.name}`)
    } catch (error) {
      unlinkSync(staged)
      throw error
    } finally {
      closeSync(descriptor)
    }
    const kind = before === "absent" ? ("created" as const) : ("modified" as const)
    return [...made, { path: place.path, kind, before, after, bytesWritten }]
  })
}

const makeDirectories = (root: Root, place: Place, names: ReadonlyArray<string>): Array<ChangedPath> => {
  const parent = place.path.split("/").slice(0, place.path.split("/").length - place.missing.length - 1)
  return names.map((name) => {
    parent.push(name)
    const path = parent.join("/")
    withPlace(root, path, { symlinks: "deny" }, (one) => mkdirSync(`${one.directory.base}/${one.name}`))
    return { path, kind: "created", before: "absent", after: "directory", bytesWritten: 0 }
  })
}

const removeTree = (root: Root, base: string, path: string): Array<ChangedPath> =>
  readdirSync(base).flatMap((name): Array<ChangedPath> => {
    const inner = `${path}/${name}`
    if (!lstatSync(`${base}/${name}`).isDirectory()) {
      const before = withPlace(root, inner, { symlinks: "deny", follow: false }, (place) => stateOf(root, place))
      unlinkSync(`${base}/${name}`)
      return [{ path: inner, kind: "deleted", before, after: "absent", bytesWritten: 0 }]
    }
    const held = root.technique.enter(base, name)
    const gone = removeTree(root, held.base, inner)
    held.close()
    rmdirSync(`${base}/${name}`)
    return gone.concat({ path: inner, kind: "deleted", before: "directory", after: "absent", bytesWritten: 0 })
  })

const stateOf = (root: Root, place: Place): string => {
  if (place.found === undefined) return "absent"
  if (place.found.stats.isDirectory()) return "directory"
  if (!place.found.stats.isFile()) return place.found.stats.isSymbolicLink() ? "symlink" : "other"
  const descriptor = openFile(root, place)
  try {
    return fingerprintDescriptor(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const stale = (path: string) =>
  makeToolError("stale_file", `${path} has changed since it was read; nothing was changed`, {
    suggestion: "Read the file again, then repeat the call.",
    details: { path }
  })

const exists = (path: string) => makeToolError("already_exists", `${path} already exists`, { details: { path } })

const rootStays = () =>
  makeToolError("path_outside_workspace", "the workspace itself can't be deleted or moved", { details: { path: "." } })
