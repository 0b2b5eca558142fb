import { lstatSync } from "node:fs"
import { isAbsolute } from "node:path"

import {
  type ChangedPath,
  type ChangePlan,
  type CommitError,
  type Content,
  type ErrorCode,
  type FileInfo,
  type LookError,
  makeToolError,
  type MoveOptions,
  type PlanError,
  type PlannedFile,
  type SymlinkPolicy,
  type ToolError,
  type WriteOptions
} from "@haft/core"
import * as Effect from "effect/Effect"

import {
  alreadyExists,
  attempt,
  type ErrorWith,
  isDirectory,
  lookCodes,
  namedAsDirectory,
  notADirectory,
  notARegularFile,
  notFound,
  planCodes,
  readOnlyRoot,
  rootStays,
  secretPath,
  stale
} from "../../errno.ts"
import { fileContent, fingerprintContent, repeatUntilDone } from "../content.ts"
import { isRootItself, type Root, withPlace } from "../paths/containment.ts"
import { identityOf } from "../paths/handles.ts"
import { folded } from "../paths/name-on-disk.ts"
import type { SecretFiles } from "../secrets/secret-files.ts"
import type { Recorded } from "../undo/history-log.ts"
import { copyNode } from "./copy-across-devices.ts"
import type { Owner } from "./owner.ts"
import { contentOfNode, diffOfPlan } from "./plan-content.ts"
import { deletionOf, refuseTooMany, removeNext, type Removal } from "./plan-removal.ts"
import {
  checkWritable,
  contentState,
  type DirectoryNode,
  type FileNode,
  modeOf,
  type Node,
  openView,
  type ReadFor,
  type ScratchFile,
  sizeOfContent,
  recordedState,
  stateLike,
  stateOfNode,
  type View
} from "./planned-tree.ts"

export interface PlanSettings {
  readonly root: Root
  readonly secrets: SecretFiles
  readonly symlinks: SymlinkPolicy
  /** The paths are resolved already, as they are in the history: a link is a link, wherever it stands. */
  readonly exact?: boolean
  /** True where undo can keep these files. */
  readonly canUndo: (replaced: ReadonlyArray<FileNode>) => boolean
}

/** Commits a plan; where it is out of date, plans `again` and commits that. */
export type CommitPlan = <E, R>(
  plan: NodePlan,
  again: ((plan: ChangePlan) => Effect.Effect<unknown, E, R>) | undefined
) => Effect.Effect<ReadonlyArray<ChangedPath>, CommitError | E, R>

/** More is not planned at once: what is written is in memory, or in a scratch directory, until the commit. */
const maximumPlanned = 1024 * 1024 * 1024

/** Larger files are not read as a whole. */
const maximumRead = 1024 * 1024 * 1024

/** The change plan of a workspace on disk. The disk is read as far as the changes reach, and never written. */
export class NodePlan implements ChangePlan {
  readonly view: View
  readonly changes: Array<ChangedPath> = []
  /** How to go back. */
  readonly recorded: Array<Recorded> = []
  /** Files whose content goes, and has to be kept for that. */
  readonly replaced: Array<FileNode> = []
  readonly #settings: PlanSettings
  readonly #commit: CommitPlan
  /** Of content that was read or written by this plan. */
  readonly #fingerprints = new WeakMap<Content, string>()
  #plannedBytes = 0
  #isExact: boolean

  constructor(settings: PlanSettings, commit: CommitPlan) {
    this.#settings = settings
    this.#isExact = settings.exact ?? false
    this.#commit = commit
    this.view = openView(settings.root, settings.symlinks)
  }

  get isUndoable(): boolean {
    return this.#settings.canUndo(this.replaced)
  }

  /** Takes the paths that follow as resolved already: a link is a link, wherever it stands. */
  useExactPaths(): void {
    this.#isExact = true
    this.view.opensDirectories = true
  }

  readonly info = (
    given: string,
    { follow = true, original = false } = {}
  ): Effect.Effect<FileInfo | undefined, LookError> =>
    this.#look(lookCodes, () => {
      const names = this.#locate(given, { follow })
      const node = (original ? this.view.original(names.join("/")) : undefined) ?? this.view.find(names)
      return node === undefined ? undefined : infoOf(node, names)
    })

  readonly file = (
    given: string,
    { maxBytes = maximumRead, original = false }: { readonly maxBytes?: number; readonly original?: boolean } = {}
  ): Effect.Effect<PlannedFile, PlanError> =>
    Effect.flatMap(
      this.#look(planCodes, () => {
        const names = this.#locate(given, { read: "content" })
        const now = this.view.find(names)
        const node = original ? (this.view.original(names.join("/")) ?? now) : now
        if (node === undefined) throw notFound(given)
        if (node.kind === "directory") throw isDirectory(given)
        if (node.kind !== "file") throw notARegularFile(given)
        this.#refuseSecret(given, names, node)
        return { path: names.join("/"), node }
      }),
      ({ path, node }) =>
        Effect.map(contentOfNode(this.view, node, { given, maxBytes }), (content) => {
          const fingerprint = contentState(this.view.root, node)
          this.#fingerprints.set(content, fingerprint)
          return { path, content, fingerprint, mode: modeOf(node) ?? 0o644 }
        })
    )

  readonly write = (given: string, content: Content, options: WriteOptions = {}): Effect.Effect<void, PlanError> =>
    this.#look(planCodes, () => this.putFile(given, { ...options, content: piecesOf(content), given: content }))

  readonly adopt = (given: string, scratch: string, options: WriteOptions = {}): Effect.Effect<void, PlanError> =>
    this.#look(planCodes, () => {
      const stats = isAbsolute(scratch) ? lstatSync(scratch, { throwIfNoEntry: false }) : undefined
      if (stats?.isFile() !== true) throw notARegularFile(scratch)
      const { size, mtimeMs } = stats
      const mode = options.mode ?? stats.mode & 0o777
      const file = { path: scratch, identity: identityOf(stats), size, modified: mtimeMs }
      this.putFile(given, { ...options, content: fileContent(scratch), scratch: file, size, mode })
    })

  readonly setMode = (given: string, mode: number): Effect.Effect<void, PlanError> =>
    Effect.flatMap(
      this.#look(planCodes, () => this.#setDirectoryMode(given, mode)),
      (isDone) =>
        isDone ? Effect.void : Effect.flatMap(this.file(given), ({ content }) => this.write(given, content, { mode }))
    )

  readonly remove = (
    given: string,
    { recursive = false, base }: { readonly recursive?: boolean; readonly base?: string } = {}
  ): Effect.Effect<void, PlanError> =>
    Effect.flatMap(
      this.#look(planCodes, () => this.#removable(given, { recursive, base })),
      ({ node, names }) => {
        const pending: Array<Removal> = [{ find: () => node, path: names.join("/"), isOpen: false }]
        const remove = (gone: Node, path: string): void => this.#planDeletion(gone, path)
        const slice = this.#look(planCodes, () => removeNext(this.view, pending, { given, remove }))
        const isOnDisk = node.kind === "directory" && node.origin !== undefined
        return (isOnDisk ? refuseTooMany(this.view, { path: node.origin.path, given }) : Effect.void).pipe(
          Effect.andThen(repeatUntilDone(slice)),
          Effect.andThen(Effect.sync(() => detach(this.view, names)))
        )
      }
    )

  readonly move = (from: string, to: string, options: MoveOptions = {}): Effect.Effect<void, PlanError> =>
    this.#look(planCodes, () => this.#move(from, to, options))

  readonly makeDirectory = (given: string, mode?: number): Effect.Effect<void, PlanError> =>
    this.#look(planCodes, () => {
      const there = this.view.find(this.#locate(given))
      if (there?.kind === "directory") return
      const names = this.#changeable(given)
      const node = this.view.find(names)
      if (node !== undefined) throw alreadyExists(given)
      const parent = this.#parentOf(names, { given, create: mode === undefined })
      this.#addDirectory(parent, names, mode)
    })

  readonly symlink = (given: string, target: string): Effect.Effect<void, PlanError> =>
    this.#look(planCodes, () => {
      const names = this.#changeable(given, { follow: false })
      const parent = this.view.find(names.slice(0, -1))
      if (parent?.kind !== "directory") throw notFound(given)
      if (this.view.child(parent, names.at(-1) ?? "") !== undefined) throw alreadyExists(given)
      const path = names.join("/")
      const node = { kind: "symlink", target } as const
      parent.children.set(names.at(-1) ?? "", node)
      const change = { path, kind: "created", what: "symlink", before: "absent", after: "symlink" } as const
      this.changes.push({ ...change, bytesWritten: 0, contentAfter: Buffer.from(target) })
      this.recorded.push({ did: "write", path, before: null, after: recordedState(this.view.root, node) })
    })

  /** Removes a directory when it is empty, and leaves it when it is not. */
  readonly removeIfEmpty = (path: string): Effect.Effect<void, PlanError> =>
    this.#look(planCodes, () => {
      const names = this.#changeable(path, { follow: false })
      const node = this.view.find(names)
      if (node?.kind !== "directory" || this.view.names(node).length > 0) return
      detach(this.view, names)
      const change = { path, kind: "deleted", what: "directory", before: "directory", after: "absent" } as const
      this.changes.push({ ...change, bytesWritten: 0 })
      this.recorded.push({ did: "delete", path, state: "directory", mode: modeOf(node) ?? 0o755 })
    })

  get diff(): Effect.Effect<string, PlanError> {
    return this.diffWhere(() => true)
  }

  readonly diffWhere = (isShown: (path: string) => boolean): Effect.Effect<string, PlanError> =>
    Effect.suspend(() => {
      const { secrets } = this.#settings
      return diffOfPlan(this.view, this.changes, { isShown, isSecret: (path) => secrets.isSecretPath(path) })
    })

  readonly commit = <E = never, R = never>(
    again?: (plan: ChangePlan) => Effect.Effect<unknown, E, R>
  ): Effect.Effect<ReadonlyArray<ChangedPath>, CommitError | E, R> => this.#commit(this, again)

  /** Writes what moves anew and deletes it where it was, for a rename that does not reach between two mounts. */
  copyMoves(): void {
    const copyIn = (directory: DirectoryNode): void => {
      for (const [name, node] of directory.children) {
        if (node === undefined) continue
        const isAtHome = node.origin === undefined || (node.origin.home === directory && node.origin.name === name)
        if (!isAtHome) directory.children.set(name, copyNode(this.view, node))
        else if (node.kind === "directory") copyIn(node)
      }
    }
    copyIn(this.view.top)
  }

  /** Plans a file with new content. */
  putFile(given: string, file: NewFile): void {
    const { content, base, createDirectories = false } = file
    const names = this.#changeable(given, { read: "fingerprint" })
    if (names.length === 0) throw isDirectory(given)
    if (isNamedAsDirectory(given)) throw namedAsDirectory(given)
    const path = names.join("/")
    const parent = this.#parentOf(names, { given, create: createDirectories })
    const name = names.at(-1) ?? ""
    const old = this.view.child(parent, name)
    if (old?.kind === "directory") throw isDirectory(given)
    if (old !== undefined && old.kind !== "file") throw notARegularFile(given)
    this.#refuseSecret(given, names, old)
    const before = stateLike(this.view.root, old, base)
    checkBase(given, base, before)
    // A program replaces a file that it may not write, too: the permissions that count are those of its directory.
    if (old?.origin !== undefined && !this.#isExact) checkWritable(this.view, old.origin, given)
    const after = file.fingerprint ?? (file.given && this.#fingerprints.get(file.given)) ?? fingerprintContent(content)
    if (file.given !== undefined) this.#fingerprints.set(file.given, after)
    // The rights of a set-user-ID program were granted to its old content.
    const mode = file.mode ?? (before === after ? modeOf(old) : withoutSetId(modeOf(old)))
    if (before === after && mode === modeOf(old) && file.evenIfSame !== true) return
    const bytesWritten = file.size ?? sizeOfContent(content)
    // A scratch file takes no memory.
    if (file.scratch === undefined) this.#plan(bytesWritten, given)
    if (old !== undefined) this.replaced.push(old)
    const owner = old?.owner ?? old?.origin?.owner ?? file.owner
    parent.children.set(name, {
      kind: "file",
      content,
      fingerprint: after,
      ...(file.scratch !== undefined && { scratch: file.scratch }),
      ...(mode !== undefined && { mode }),
      ...(owner !== undefined && { owner })
    })
    const modeBefore = modeOf(old)
    const contentBefore = old?.bytes ?? (Array.isArray(old?.content) ? (old.content as Array<Uint8Array>) : undefined)
    this.changes.push({
      path,
      kind: old === undefined ? "created" : "modified",
      what: "file",
      before,
      after,
      bytesWritten,
      ...(contentBefore !== undefined && { contentBefore }),
      ...(old?.origin !== undefined && old.origin.links > 1 && { otherNames: old.origin.links - 1 }),
      ...(file.given !== undefined && { contentAfter: file.given }),
      ...(file.mode !== undefined && file.mode !== modeBefore && { modeAfter: file.mode }),
      ...(modeBefore !== undefined && file.mode !== undefined && file.mode !== modeBefore && { modeBefore })
    })
    this.recorded.push({
      did: "write",
      path,
      before: old === undefined ? null : { state: before, mode: modeBefore ?? 0o644 },
      after,
      ...(old !== undefined && mode !== modeBefore && { changedMode: true })
    })
  }

  /** Looks at the workspace under the read lock. */
  #look<A, const Code extends ErrorCode>(codes: ReadonlyArray<Code>, look: () => A): Effect.Effect<A, ErrorWith<Code>> {
    return this.view.root.reads.shared(attempt(codes, look))
  }

  #plan(bytes: number, given: string): void {
    this.#plannedBytes += bytes
    if (this.#plannedBytes > maximumPlanned) throw tooMuch(given)
  }

  #removable(
    given: string,
    { recursive, base }: { readonly recursive: boolean; readonly base: string | undefined }
  ): { readonly node: Node; readonly names: ReadonlyArray<string> } {
    const { symlinks } = this.#settings
    const names = this.#changeable(given, { follow: false })
    const node = this.view.find(names)
    if (node === undefined) throw notFound(given)
    if (isRootItself(this.view.root, names)) throw rootStays("deleted")
    if (base !== undefined) {
      const isLink = node.kind === "symlink" && node.origin !== undefined && !this.#isExact
      const state = isLink ? stateThrough(this.view, given, symlinks) : stateLike(this.view.root, node, base)
      checkBase(given, base, state)
    }
    if (node.kind === "directory" && !recursive) {
      throw makeToolError("is_directory", `${given} is a directory`, {
        suggestion: "Ask for a recursive deletion if everything in it should go too.",
        details: { path: given }
      })
    }
    return { node, names }
  }

  #planDeletion(node: Node, path: string): void {
    const { change, recorded } = deletionOf(this.view, node, path)
    if (node.kind === "file") this.replaced.push(node)
    this.changes.push(change)
    this.recorded.push(recorded)
  }

  #move(given: string, target: string, { overwrite = false, createDirectories = false, base }: MoveOptions): void {
    const { view } = this
    const from = this.#changeable(given, { follow: false })
    const node = view.find(from)
    if (node === undefined) throw notFound(given)
    if (isRootItself(view.root, from)) throw rootStays("moved")
    this.#refuseSecret(given, from, node)
    const to = this.#targetOfMove(from, target)
    if (to.length === 0) throw alreadyExists(target)
    if (node.kind !== "directory" && isNamedAsDirectory(target)) throw namedAsDirectory(target)
    const [fromPath, toPath] = [from.join("/"), to.join("/")]
    if (fromPath === toPath) return
    if (toPath.startsWith(`${fromPath}/`)) {
      throw makeToolError("invalid_params", `${given} can't be moved into itself`, {
        suggestion: "Choose a place outside it.",
        details: { path: target }
      })
    }
    const parent = this.#parentOf(to, { given: target, create: createDirectories })
    // The rename itself would not tell which of the two places it was refused at.
    if (parent.origin !== undefined) checkWritable(view, parent.origin, target)
    const name = to.at(-1) ?? ""
    const there = view.child(parent, name)
    const before = stateLike(this.view.root, node, base)
    checkBase(given, base, before)
    if (node.kind === "directory") this.#refuseUncovered(fromPath, toPath)
    if (there !== undefined && there !== node) {
      if (!overwrite) throw alreadyExists(target)
      this.#refuseSecret(target, to, there)
      if (there.kind === "directory") throw isDirectory(target)
      if (node.kind === "directory") throw alreadyExists(target)
      this.#planDeletion(there, toPath)
    }
    detach(view, from)
    const isByCopy = node.origin !== undefined && node.origin.identity.device !== deviceOf(view, to.slice(0, -1))
    parent.children.set(name, isByCopy ? copyNode(view, node) : node)
    const state = node.kind === "symlink" ? node.kind : before
    const change = {
      path: fromPath,
      kind: "moved",
      what: node.kind,
      movedTo: toPath,
      before: state,
      after: state
    } as const
    this.changes.push({ ...change, bytesWritten: 0 })
    const recorded = node.kind === "symlink" ? recordedState(view.root, node) : before
    this.recorded.push({ did: "move", from: fromPath, to: toPath, state: recorded })
  }

  #locate(path: string, how: { readonly follow?: boolean; readonly read?: ReadFor } = {}): ReadonlyArray<string> {
    return this.#isExact ? path.split("/") : this.view.locate(path, how)
  }

  /** Target of a move: the same place in other letters, where only the case of a name is to change. */
  #targetOfMove(from: ReadonlyArray<string>, target: string): ReadonlyArray<string> {
    const to = this.#changeable(target, { follow: false })
    if (this.#isExact || to.length === 0 || to.join("/") !== from.join("/")) return to
    const spelled = this.view.locateAsSpelled(target)
    return folded(spelled.at(-1) ?? "") === folded(to.at(-1) ?? "") ? spelled : to
  }

  /** Plans the permission bits of a directory; false where the path is none. */
  #setDirectoryMode(given: string, mode: number): boolean {
    const names = this.#changeable(given)
    const node = this.view.find(names)
    if (node?.kind !== "directory") return false
    if (isRootItself(this.view.root, names)) throw isDirectory(given)
    const before = modeOf(node) ?? 0o755
    if (before === mode) return true
    node.mode = mode
    const path = names.join("/")
    const change = { path, kind: "modified", what: "directory", before: "directory", after: "directory" } as const
    this.changes.push({ ...change, bytesWritten: 0, modeBefore: before, modeAfter: mode })
    this.recorded.push({ did: "set_mode", path, before, after: mode })
    return true
  }

  /** Locates what is going to change, which a root that can only be read refuses. */
  #changeable(path: string, how: { readonly follow?: boolean; readonly read?: ReadFor } = {}): ReadonlyArray<string> {
    const names = this.#locate(path, how)
    const root = this.view.root.named?.get(names[0] ?? "")
    if (root?.access === "read") throw readOnlyRoot(path, root.name)
    return names
  }

  /** Refuses to hand out, replace or move a secret file that is on the disk. Undo brings back and takes away any file. */
  #refuseSecret(given: string, names: ReadonlyArray<string>, node: Node | undefined): void {
    const { secrets } = this.#settings
    if (this.#isExact || node?.kind !== "file" || node.origin === undefined) return
    const { origin } = node
    if (secrets.isSecretPath(names.join("/")) || secrets.isSecretOrigin(origin)) throw secretPath(given)
  }

  /** Refuses to move a directory when a secret file in it would have a path that is not secret. */
  #refuseUncovered(from: string, to: string): void {
    const { secrets } = this.#settings
    if (this.#isExact) return
    const uncovered = secrets.below(from).find((path) => !secrets.isSecretPath(to + path.slice(from.length)))
    if (uncovered !== undefined) throw secretPath(uncovered)
  }

  /** The directory that a path lies in; planned when it is missing and may be made. */
  #parentOf(
    names: ReadonlyArray<string>,
    { given, create }: { readonly given: string; readonly create: boolean }
  ): DirectoryNode {
    let directory = this.view.top
    for (const [index, name] of names.slice(0, -1).entries()) {
      const next = this.view.child(directory, name)
      const way = names.slice(0, index + 1)
      if (next === undefined && !create) {
        throw makeToolError("file_not_found", `${given}: the directory ${way.join("/")} does not exist`, {
          suggestion: "Create the directory first, or ask for missing directories to be created.",
          details: { path: given }
        })
      }
      if (next !== undefined && next.kind !== "directory") throw notADirectory(way.join("/"))
      directory = next ?? this.#addDirectory(directory, way)
    }
    return directory
  }

  #addDirectory(parent: DirectoryNode, names: ReadonlyArray<string>, mode?: number): DirectoryNode {
    const path = names.join("/")
    const made: DirectoryNode = { kind: "directory", children: new Map(), ...(mode !== undefined && { mode }) }
    parent.children.set(names.at(-1) ?? "", made)
    const change = { path, kind: "created", what: "directory", before: "absent", after: "directory" } as const
    this.changes.push({ ...change, bytesWritten: 0 })
    this.recorded.push({ did: "make_directory", path })
    return made
  }
}

/** A file to be planned. */
export interface NewFile extends WriteOptions {
  readonly content: Iterable<Uint8Array>
  /** The content as the caller gave it. */
  readonly given?: Content
  readonly scratch?: ScratchFile
  readonly size?: number
  /** Whose it is to be, where nothing is yet. */
  readonly owner?: Owner
  /** Of the content, where it is known already. */
  readonly fingerprint?: string
  /** Replaces a file of the same content and mode, too: for its times and further names. */
  readonly evenIfSame?: boolean
}

const withoutSetId = (mode: number | undefined): number | undefined => mode && mode & ~0o6000

const piecesOf = (content: Content): ReadonlyArray<Uint8Array> => (content instanceof Uint8Array ? [content] : content)

const infoOf = (node: Node, names: ReadonlyArray<string>): FileInfo => ({
  path: names.length === 0 ? "." : names.join("/"),
  kind: node.kind,
  size: node.kind === "file" && node.content !== undefined ? sizeOfContent(node.content) : (node.origin?.size ?? 0),
  modified: node.origin?.modified ?? 0,
  mode: modeOf(node) ?? node.origin?.mode ?? 0o644,
  ...(node.kind === "symlink" && node.target !== undefined && { target: node.target })
})

const detach = (view: View, names: ReadonlyArray<string>): void => {
  const parent = view.find(names.slice(0, -1))
  if (parent?.kind === "directory") parent.children.set(names.at(-1) ?? "", undefined)
}

/** The device of a directory; one that is only planned will be on that of the one it lies in. */
const deviceOf = (view: View, names: ReadonlyArray<string>): number | undefined => {
  const ways = [...names.keys()].map((index) => names.slice(0, index + 1))
  const existing = ways.map((way) => view.find(way)?.origin).findLast((origin) => origin !== undefined)
  return (existing ?? view.top.origin)?.identity.device
}

const stateThrough = (view: View, given: string, symlinks: SymlinkPolicy): string =>
  withPlace(view.root, given, { symlinks }, ({ path }) => stateOfNode(view.root, view.find(path.split("/"))))

const checkBase = (path: string, base: string | undefined, state: string): void => {
  if (base !== undefined && base !== state) throw stale(path)
}

const isNamedAsDirectory = (path: string): boolean => /\/\.?$/.test(path)

const tooMuch = (given: string): ToolError<"file_too_large"> =>
  makeToolError(
    "file_too_large",
    `${given}: the call would write more than ${maximumPlanned} bytes at once; nothing was changed`,
    {
      suggestion: "Split the change into several calls.",
      details: { path: given, maxBytes: maximumPlanned }
    }
  )
