import { closeSync, statSync } from "node:fs"
import { join } from "node:path"

import {
  type Change,
  type ChangedPath,
  type CommitError,
  CurrentCall,
  type FileInfo,
  type FileSnapshot,
  isToolError,
  type ListError,
  type LookError,
  type ReadError,
  type ScannedFile,
  type ToolError,
  type UndoReport,
  Workspace,
  type WorkspaceService
} from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"

import { tellApproved } from "../control-files/approved-changes.ts"
import { fromErrno, naming, notADirectory, notFound, stateName } from "../errno.ts"
import { stateDirectory } from "../state/state-directory.ts"
import { commitChanges, type CommitRequest, type CommitSettings, previewChanges, recover } from "./commit/commit.ts"
import { openTurn } from "./commit/lock-between-processes.ts"
import { attempt, drive, exclusively, type Turns } from "./commit/lock.ts"
import type { PlannedChange } from "./commit/plan.ts"
import { openCommitJournal } from "./commit/write-ahead-log.ts"
import {
  fingerprintBytes,
  fingerprintOf,
  inSlices,
  kindOf,
  newHash,
  openFile,
  readPlace,
  scanDescriptor
} from "./content.ts"
import { globSource } from "./glob/directory-source.ts"
import { globFiles } from "./glob/glob.ts"
import { closeRoot, openRoot, type Place, type Root, withHeldPlace, withPlace } from "./paths/containment.ts"
import { type Technique, techniques } from "./paths/handles.ts"
import { KeptPlace } from "./paths/last-path-cache.ts"
import { readEach } from "./read-many-files.ts"
import { openHistory } from "./undo/history.ts"
import { previewUndo, undoCalls } from "./undo/undo.ts"
import { readEntries, startWalk } from "./walk.ts"

export interface NodeWorkspaceOptions {
  /** The directory to work in. */
  readonly root: string
  /** Where history and the commit journal live, outside the root. A directory of the user's by default. */
  readonly state?: string
  /** Wait until a change would survive a power loss. True by default. */
  readonly durable?: boolean
  /**
   * How paths are kept inside: `descriptors` holds against processes that exchange directories meanwhile and
   * needs Linux's `/proc`; `paths` looks twice and works everywhere. The best there is, when absent.
   */
  readonly containment?: Technique["name"]
  /** How much replaced content is kept for undoing; the oldest goes first. 512 MiB by default. */
  readonly historyBytes?: number
  /** Told about every moment of a commit at which a crash would find another state. For tests. */
  readonly onStep?: (name: string) => void
}

/** Larger files are handed over by `scan` only. */
const maximumRead = 1024 * 1024 * 1024

/** Smaller files are scanned in one go. */
const mostAtOnce = 256 * 1024

/** Memory for what is let go again soon. */
const briefly = (bytes: number): Buffer => Buffer.allocUnsafe(bytes)

const atMost = (maxBytes: number): number => Math.min(maxBytes, maximumRead)

type OpenError = ToolError<
  "file_not_found" | "not_a_directory" | "permission_denied" | "invalid_params" | "write_failed"
>

/** A workspace on the real file system. Nothing outside its root is read or changed, whatever the paths say. */
export const nodeWorkspace = (options: NodeWorkspaceOptions): Layer.Layer<Workspace, OpenError> =>
  Layer.effect(
    Workspace,
    Effect.gen(function* () {
      const settings = yield* Effect.acquireRelease(
        attempt<Settings, OpenError>(() => openSettings(options)),
        ({ root, journal, kept }) =>
          Effect.sync(() => {
            journal.close()
            kept.forget()
            closeRoot(root)
          })
      )
      const recovered = yield* exclusively(
        settings,
        attempt<number, OpenError>(() => recover(settings))
      )
      if (recovered > 0)
        yield* Effect.logWarning(`brought ${recovered} unfinished change(s) in ${settings.root.path} to an end`)
      return makeWorkspace(settings)
    })
  )

interface Settings extends CommitSettings, Turns {}

const openSettings = (options: NodeWorkspaceOptions): Settings => {
  const { durable = true, historyBytes = 512 * 1024 * 1024, onStep } = options
  const root = openWorkspaceRoot(options)
  try {
    const state = stateDirectory(options)
    const history = openHistory({ root, directory: join(state, "history"), capBytes: historyBytes })
    const { imagePath } = history
    return {
      root,
      durable,
      takeTurn: openTurn(join(state, "turn")),
      turn: Semaphore.makeUnsafe(1),
      kept: new KeptPlace(root),
      journal: openCommitJournal({
        root,
        directory: join(state, "commits"),
        durable,
        imagePath,
        ...(onStep && { onStep })
      }),
      history,
      ...(onStep !== undefined && { onStep })
    }
  } catch (error) {
    closeRoot(root)
    throw isToolError(error)
      ? error
      : naming(options.state ?? stateName, () => {
          throw error
        })
  }
}

const openWorkspaceRoot = ({ root, containment }: NodeWorkspaceOptions): Root => {
  try {
    if (!statSync(root).isDirectory()) throw notADirectory(root)
    return openRoot(root, containment === undefined ? undefined : techniques[containment])
  } catch (error) {
    throw fromErrno(error, root)
  }
}

const makeWorkspace = (settings: Settings): WorkspaceService => {
  const { root, history, kept } = settings
  /** Resolves a path under the call's link policy and looks at what is there. */
  const at = <A, E extends ToolError>(given: string, use: (place: Place) => A, follow = true): Effect.Effect<A, E> =>
    CurrentCall.use((call) =>
      attempt<A, E>(() => {
        const place = follow ? kept.take(call, given) : undefined
        return place === undefined
          ? withPlace(root, given, { symlinks: call.symlinks, follow }, use)
          : withHeldPlace(root, place, use)
      })
    )

  const scan: WorkspaceService["scan"] = (given, visit, { fingerprintUpTo = -1 } = {}) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(
        at<Opened | ReadAtOnce, ReadError>(given, (place) => {
          const info = infoOf(place)
          return info.size > 0 && info.size <= mostAtOnce
            ? { info, content: readPlace(root, place, { maxBytes: mostAtOnce, allocate: briefly }) }
            : { info, descriptor: openFile(root, place) }
        }),
        (found) => {
          if ("content" in found) return Effect.succeed(scanAtOnce(found, visit, fingerprintUpTo))
          const close = Effect.sync(() => closeSync(found.descriptor))
          return Effect.ensuring(restore(scanInChunks(found, visit, fingerprintUpTo)), close)
        }
      )
    )

  return {
    root: root.path,
    contain: (given) => CurrentCall.use((call) => attempt(() => kept.resolve(call, given))),
    info: (given, { follow } = {}) => at(given, infoOf, follow),
    read: (given, { maxBytes = maximumRead } = {}) =>
      at(given, (place) => readPlace(root, place, { maxBytes: atMost(maxBytes) })),
    readEach: (paths, visit, { maxBytes = maximumRead } = {}) =>
      CurrentCall.use(({ symlinks }) => readEach(root, paths, visit, { symlinks, maxBytes: atMost(maxBytes) })),
    snapshot: (given, { maxBytes = maximumRead } = {}) =>
      at<Omit<FileSnapshot, "fingerprint">, ReadError | ToolError<"file_too_large">>(given, (place) => ({
        content: readPlace(root, place, { maxBytes: atMost(maxBytes) }),
        info: infoOf(place)
      })).pipe(Effect.map((read) => ({ ...read, fingerprint: fingerprintBytes(read.content) }))),
    scan,
    list: (given) => at(given, (place) => inDirectory(place, () => readEntries(heldBase(place)))),
    walk: (given, visit) =>
      at<string, ListError>(given, (place) =>
        inDirectory(place, () => (readEntries(heldBase(place)), place.path))
      ).pipe(
        Effect.flatMap((path) =>
          Effect.acquireUseRelease(
            Effect.sync(() => startWalk(root, path, { visit })),
            (walk) => inSlices(() => walk.advance(20)),
            (walk) => Effect.sync(walk.close)
          )
        )
      ),
    glob: (given, pattern, globOptions) =>
      at<string, ListError>(given, (place) => inDirectory(place, () => place.path)).pipe(
        Effect.flatMap((path) => globFiles(globSource(root), path, pattern, globOptions))
      ),
    fingerprint: (given) =>
      Effect.acquireUseRelease(
        at<Opened | string, LookError>(given, (place) => {
          if (place.found === undefined) return "absent"
          const info = infoOf(place)
          return info.kind === "file" ? { info, descriptor: openFile(root, place) } : info.kind
        }),
        (opened) => {
          if (typeof opened === "string") return Effect.succeed(opened)
          const hash = newHash()
          const hashing = scanDescriptor(opened.descriptor, opened.info.size, (chunk) => (hash.update(chunk), true))
          return Effect.map(hashing, () => fingerprintOf(hash))
        },
        (opened) => (typeof opened === "string" ? Effect.void : Effect.sync(() => closeSync(opened.descriptor)))
      ),
    commit: (changes) =>
      CurrentCall.use((call) =>
        exclusively(
          settings,
          drive<ReadonlyArray<ChangedPath>, CommitError>(() =>
            commitChanges(settings, { ...requestOf(call), changes: changes.map(asPlanned), exact: false })
          )
        )
      ).pipe(
        Effect.tap((changed) =>
          Effect.sync(() =>
            tellApproved(
              root.path,
              changed.map(({ path, movedTo, after }) => ({ path: movedTo ?? path, after }))
            )
          )
        )
      ),
    previewCommit: (changes) =>
      CurrentCall.use(({ symlinks }) =>
        exclusively(
          settings,
          drive<ReadonlyArray<ChangedPath>, CommitError>(() =>
            previewChanges(settings, { symlinks, changes: changes.map(asPlanned), exact: false })
          )
        )
      ),
    undo: (what) =>
      CurrentCall.use((call) =>
        exclusively(
          settings,
          drive<UndoReport, UndoError>(() => undoCalls(settings, requestOf(call), what))
        )
      ).pipe(
        Effect.tap(({ paths }) =>
          Effect.sync(() =>
            tellApproved(
              root.path,
              paths.map((path) => ({ path, after: undefined }))
            )
          )
        )
      ),
    // Not while a commit is made: its entry is in the history already, and its files would look as if somebody else had
    // changed them.
    previewUndo: (what) =>
      exclusively(
        settings,
        drive(() => previewUndo(root, history, what))
      )
  }
}

type UndoError = ToolError<"no_history" | "stale_file" | "write_failed">

type CallContext = typeof CurrentCall.Service

const requestOf = (call: CallContext): Omit<CommitRequest, "changes" | "exact"> => ({
  symlinks: call.symlinks,
  call: call.id,
  run: call.run ?? "none",
  tool: call.tool,
  at: call.startedAt,
  ...(call.approvedState !== undefined && { approvedState: call.approvedState }),
  ...(call.assessedWrites !== undefined && { assessedWrites: call.assessedWrites })
})

const asPlanned = (change: Change): PlannedChange =>
  change.kind === "write"
    ? { ...change, content: change.content instanceof Uint8Array ? [change.content] : change.content }
    : change

interface Opened {
  readonly info: FileInfo
  readonly descriptor: number
}

/** A file that was read in one go. */
interface ReadAtOnce {
  readonly info: FileInfo
  readonly content: Uint8Array
}

type Visit = (chunk: Uint8Array) => boolean

const scanAtOnce = ({ info, content }: ReadAtOnce, visit: Visit, fingerprintUpTo: number): ScannedFile =>
  visit(content) && info.size <= fingerprintUpTo ? { ...info, fingerprint: fingerprintBytes(content) } : info

const scanInChunks = (
  { info, descriptor }: Opened,
  visit: Visit,
  fingerprintUpTo: number
): Effect.Effect<ScannedFile> => {
  if (info.size > fingerprintUpTo) return Effect.as(scanDescriptor(descriptor, info.size, visit), info)
  const hash = newHash()
  let isWhole = true
  const hashed = (chunk: Uint8Array): boolean => (hash.update(chunk), (isWhole = visit(chunk)))
  return Effect.map(scanDescriptor(descriptor, info.size, hashed), () =>
    isWhole ? { ...info, fingerprint: fingerprintOf(hash) } : info
  )
}

const infoOf = (place: Place): FileInfo => {
  const { found, given, path } = place
  if (found === undefined) throw notFound(given)
  const { size, mtimeMs, mode } = found.stats
  return { path, kind: kindOf(found.stats), size, modified: mtimeMs, mode: mode & 0o7777 }
}

const inDirectory = <A>(place: Place, use: () => A): A => {
  const { found, given } = place
  if (found === undefined) throw notFound(given)
  if (!found.stats.isDirectory()) throw notADirectory(given)
  try {
    return use()
  } catch (error) {
    throw fromErrno(error, given)
  }
}

const heldBase = ({ found, directory }: Place): string => (found ?? directory).base
