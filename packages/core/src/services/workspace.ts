import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

import type { ToolError } from "../tool-error.ts"
import type { Change, ChangedPath, ChangePlan } from "./change-plan.ts"

export type FileKind = "file" | "directory" | "symlink" | "other"

export interface FileInfo {
  /** Relative to the workspace, with `/`; `.` is the workspace itself. Links on the way are resolved. */
  readonly path: string
  readonly kind: FileKind
  readonly size: number
  /** Milliseconds since the epoch. */
  readonly modified: number
  /** Permission bits. */
  readonly mode: number
  /** Milliseconds since the epoch; absent where the workspace does not know. */
  readonly created?: number
  readonly accessed?: number
  /** For a symbolic link that a plan describes itself: the path it stores. */
  readonly target?: string
}

export interface FileSnapshot {
  readonly info: FileInfo
  readonly content: Uint8Array
  readonly fingerprint: string
}

export interface ScannedFile extends FileInfo {
  /** Of what was handed over. Absent unless it was asked for, and all of the file was handed over. */
  readonly fingerprint?: string
}

export interface ScanOptions {
  /** Take the {@link WorkspaceService.fingerprint} on the way, of a file with at most so many bytes. */
  readonly fingerprintUpTo?: number
}

export interface DirectoryEntry {
  readonly name: string
  readonly kind: FileKind
}

export interface WalkEntry extends DirectoryEntry {
  /** Relative to the directory the walk began in. */
  readonly path: string
  /** 0 for the directory's own entries. */
  readonly depth: number
}

/** Next step of a walk: go into this directory, skip it, or end the walk. */
export type WalkStep = "continue" | "skip" | "stop"

export interface UndoReport {
  /** The calls that were undone, newest first. */
  readonly calls: ReadonlyArray<string>
  readonly paths: ReadonlyArray<string>
  /** Pipes, sockets and devices that went with the rest and stay away: nothing can bring them back. */
  readonly lost?: ReadonlyArray<string>
}

/** Preview of an undo. */
export interface UndoPreview extends UndoReport {
  /** From how the files are now to how they would be, see {@link ChangePlan.diff}. Made when it is asked for. */
  readonly diff: Effect.Effect<string, ToolError<"no_history" | "stale_file" | "write_failed">>
}

export type ContainError = ToolError<"path_outside_workspace" | "symlink_blocked" | "invalid_params">
export type LookError = ContainError | ToolError<"file_not_found" | "permission_denied">
export type ReadError = LookError | ToolError<"is_directory" | "not_a_regular_file" | "secret_path">
export type ReadEachError = ReadError | ToolError<"file_too_large">
export type ListError = LookError | ToolError<"not_a_directory">
export type PlanError =
  | ReadError
  | ToolError<
      "not_a_directory" | "already_exists" | "stale_file" | "write_failed" | "file_too_large" | "read_only_root"
    >
export type CommitError = PlanError | ToolError<"already_applied" | "unknown_outcome" | "cluster_unavailable">

/** One directory tree of a workspace. */
export interface WorkspaceRoot {
  /** The first segment of its paths; empty for a workspace of one root, whose paths begin inside it. */
  readonly name: string
  /** Absolute. */
  readonly path: string
  /** `read` refuses every change below it. */
  readonly access: "read" | "write"
}

export interface WorkspaceService {
  /** Absolute path of the first root, for sandboxes that mount it and for people. Tools never open it themselves. */
  readonly root: string
  /** All roots. With several, or one that has a name, the first segment of every path is a root's name. */
  readonly roots: ReadonlyArray<WorkspaceRoot>
  /** With named roots: an absolute directory with a link to each, for programs of the host that are given such paths. */
  readonly links?: string
  /**
   * Where a caller's path lands: relative to the root, with `/`, `.` for the root itself.
   * Fails when it leads out, by `..`, as an absolute path or through a link. What is not there yet is fine.
   */
  readonly contain: (path: string) => Effect.Effect<string, ContainError>
  /**
   * True for a path, as {@link contain} returns it, of a file whose content is secret, see `defaultSecretPaths`. It can be
   * listed, described, created and deleted; what would read, change or move it fails with `secret_path`.
   */
  readonly isSecret: (path: string) => boolean
  /** Absolute paths of the secret files that are there, for sandboxes that mask them. Absent where there can't be any. */
  readonly secretFiles?: () => ReadonlyArray<string>
  /** Information about the entry at `path`. `follow: false` describes a link itself. */
  readonly info: (path: string, options?: { readonly follow?: boolean }) => Effect.Effect<FileInfo, LookError>
  /** The whole of a regular file. */
  readonly read: (
    path: string,
    options?: { readonly maxBytes?: number }
  ) => Effect.Effect<Uint8Array, ReadError | ToolError<"file_too_large">>
  /**
   * Hands over regular files whole, one after the other, or why one can't be read, until `visit` returns false.
   * Files beside each other cost less than with {@link read}. The content is only valid during the call.
   */
  readonly readEach: (
    paths: ReadonlyArray<string>,
    visit: (path: string, content: Uint8Array | ReadEachError) => boolean,
    options?: { readonly maxBytes?: number }
  ) => Effect.Effect<void>
  /** A regular file at one moment: what it is, what it holds, and the {@link fingerprint} of just that. */
  readonly snapshot: (
    path: string,
    options?: { readonly maxBytes?: number }
  ) => Effect.Effect<FileSnapshot, ReadError | ToolError<"file_too_large">>
  /**
   * Hands a regular file over in chunks, from the start, until `visit` returns false. The chunk is only
   * valid during the call: copy what is kept.
   */
  readonly scan: (
    path: string,
    visit: (chunk: Uint8Array) => boolean,
    options?: ScanOptions
  ) => Effect.Effect<ScannedFile, ReadError>
  /** A directory's entries, sorted by code unit. */
  readonly list: (path: string) => Effect.Effect<ReadonlyArray<DirectoryEntry>, ListError>
  /** Visits everything below a directory in the order of the relative paths, without following links. */
  readonly walk: (path: string, visit: (entry: WalkEntry) => WalkStep) => Effect.Effect<void, ListError>
  /** Files below `path` that match, relative to it and sorted. Never follows links. */
  readonly glob: (
    path: string,
    pattern: string,
    options?: GlobOptions
  ) => Effect.Effect<GlobResult, ListError | ToolError<"invalid_pattern">>
  /** The state of a path as a short string: `absent`, `directory`, or a hash of the content. */
  readonly fingerprint: (path: string) => Effect.Effect<string, LookError>
  /** An empty plan of changes, on the workspace as it is now. */
  readonly plan: Effect.Effect<ChangePlan, LookError>
  /** Plans changes that are given as data, and commits them: all or none. */
  readonly commit: (changes: ReadonlyArray<Change>) => Effect.Effect<ReadonlyArray<ChangedPath>, CommitError>
  /**
   * Tells a listener which paths each commit and undo of this host changed, and returns how to end that. Absent where
   * a workspace can't tell.
   */
  readonly onCommit?: (listener: (paths: ReadonlyArray<string>) => void) => () => void
  /** Takes back the last call that changed something, a named call, every call of a run, or all since a time. */
  readonly undo: (
    what?: UndoTarget
  ) => Effect.Effect<UndoReport, ToolError<"no_history" | "stale_file" | "write_failed">>
  /** Preview of {@link undo}. Changes nothing, and fails where a file has changed since, as undoing would. */
  readonly previewUndo: (
    what?: UndoTarget
  ) => Effect.Effect<UndoPreview, ToolError<"no_history" | "stale_file" | "write_failed">>
}

/**
 * Calls to undo: a call, a run, or every call that began at a time (milliseconds since the epoch) or later; the last
 * call that changed something, when absent.
 */
export type UndoTarget = { readonly call: string } | { readonly run: string } | { readonly since: number }

export interface GlobOptions {
  /** 1,000 by default. */
  readonly limit?: number
  /** Directories below the start that are looked into; no limit by default. */
  readonly maxDepth?: number
  /** Leave out what `.gitignore` files name. False by default. */
  readonly respectIgnore?: boolean
  /** Find symbolic links by their own names, too, whatever they lead to. False by default. */
  readonly includeLinks?: boolean
  /** When time is up, what was found by then is the result. No limit by default. */
  readonly timeLimitMs?: number
}

export interface GlobResult {
  readonly paths: ReadonlyArray<string>
  /** The symbolic links among the paths; with `includeLinks` only. */
  readonly links?: ReadonlyArray<string>
  /** Every match, also those beyond the limit. */
  readonly total: number
  /** True when there was no time to look everywhere. */
  readonly timedOut?: boolean
  /** Directories that could not be read, and so were left out. */
  readonly unreadable?: number
  /** Directories at the depth limit that could hold more matches, and were not looked into. */
  readonly tooDeep?: number
  /** Files that match, but whose name is not UTF-8, so that nobody could open them: left out. */
  readonly unnameable?: number
}

/** The directory an agent works in, and the only way to its files. */
export class Workspace extends Context.Service<Workspace, WorkspaceService>()("@haft/core/Workspace") {}

/** The absolute path of a contained path, for programs to start in. With named roots, `.` is the first of them. */
export const pathOnDisk = ({ root, roots }: Pick<WorkspaceService, "root" | "roots">, path: string): string => {
  const [first = "", ...rest] = path.split("/")
  const named = roots.find(({ name }) => name !== "" && name === first)
  const [base, below] = named === undefined ? [root, path] : [named.path, rest.join("/")]
  return below === "." || below === "" ? base : `${base}/${below}`
}
