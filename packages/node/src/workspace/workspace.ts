import { closeSync, statSync } from "node:fs"
import { join } from "node:path"

import {
  commitChanges,
  CurrentCall,
  type ErrorCode,
  type FileInfo,
  isToolError,
  type ScannedFile,
  Workspace,
  type WorkspaceRoot,
  type WorkspaceService,
  makeToolError
} from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"

import {
  attempt,
  containCodes,
  type ErrorWith,
  fromErrno,
  listCodes,
  lookCodes,
  naming,
  notADirectory,
  notFound,
  readCodes,
  stateName
} from "../errno.ts"
import { stateDirectory } from "../state/state-directory.ts"
import { type CommitSettings, type Decide, decideLocally, newPlan, recover, requestOf } from "./commit/commit.ts"
import { exclusively, openTurn } from "./commit/lock.ts"
import { openCommitJournal } from "./commit/write-ahead-log.ts"
import {
  fingerprintBytes,
  fingerprintOf,
  kindOf,
  newHash,
  openFile,
  readPlace,
  type ReadOptions,
  repeatUntilDone,
  scanDescriptor,
  stateByMetadata,
  stateByStats
} from "./content.ts"
import { globSource } from "./glob/directory-source.ts"
import { globFiles } from "./glob/glob.ts"
import { asRoot, closeRoot, openRoot, type Place, type Root, withHeldPlace, withPlace } from "./paths/containment.ts"
import { type Technique, techniques } from "./paths/handles.ts"
import { KeptPlace } from "./paths/last-path-cache.ts"
import { openNamedRoots } from "./paths/named-roots.ts"
import { readEach } from "./read-many-files.ts"
import { SecretFiles } from "./secrets/secret-files.ts"
import { openHistory } from "./undo/history.ts"
import { previewUndo, undoCalls } from "./undo/undo.ts"
import { readEntries, startWalk } from "./walk.ts"

export interface NodeWorkspaceOptions {
  /** The directory to work in; with `roots` the first of them. */
  readonly root: string
  /** Several directories to work in. The first segment of every path is then the name of one. */
  readonly roots?: ReadonlyArray<WorkspaceRoot>
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
  /** Globs of further secret files, and of exceptions (`!`) to the default ones; see `defaultSecretPaths` of core. */
  readonly secretPaths?: ReadonlyArray<string>
  /** Decides commits; the write-ahead log in the state directory does, when absent. */
  readonly decide?: Decide
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

/** Attempts to resolve a path whose links are replaced meanwhile. */
const mostResolutions = 10

/** Resolves a path again when a link on the way vanished between looking at it and reading it. */
const resolveSteadily = (given: string, resolve: () => string): string => {
  for (let left = mostResolutions; left > 0; left--) {
    try {
      return resolve()
    } catch (error) {
      if (!isToolError(error) || error.code !== "file_not_found") throw error
    }
  }
  throw makeToolError("symlink_blocked", `${given} could not be resolved: a link on the way keeps changing`, {
    suggestion: "Repeat the call when the link no longer changes.",
    details: { path: given }
  })
}

const openCodes = [...lookCodes, "not_a_directory", "write_failed"] as const

/** A workspace on the real file system. Nothing outside its root is read or changed, whatever the paths say. */
export const nodeWorkspace = (
  options: NodeWorkspaceOptions
): Layer.Layer<Workspace, ErrorWith<(typeof openCodes)[number]>> =>
  Layer.effect(
    Workspace,
    Effect.gen(function* () {
      const settings = yield* Effect.acquireRelease(
        attempt(openCodes, () => openSettings(options)),
        ({ root, journal, kept }) =>
          Effect.sync(() => {
            journal.close()
            kept.forget()
            closeRoot(root)
          })
      )
      const { count, waiting } = yield* exclusively(
        settings,
        attempt(openCodes, () => recover(settings))
      )
      if (count > 0)
        yield* Effect.logWarning(`brought ${count} unfinished change(s) in ${settings.root.path} to an end`)
      for (const { directory } of waiting) {
        yield* Effect.logWarning(`a change in ${settings.root.path} stays unfinished until ${directory} is back`)
      }
      return makeWorkspace(settings)
    })
  )

const openSettings = (options: NodeWorkspaceOptions): CommitSettings => {
  const { decide = decideLocally, durable = true, historyBytes = 512 * 1024 * 1024, onStep } = options
  const root = options.roots === undefined ? openWorkspaceRoot(options) : openWorkspaceRoots(options, options.roots)
  try {
    const state = stateDirectory(options)
    const own = options.roots === undefined ? state : namedDirectory(state, options.roots)
    const history = openHistory({ root, directory: join(own, "history"), capBytes: historyBytes })
    const { imagePath } = history
    return {
      root,
      secrets: new SecretFiles(root, options.secretPaths),
      durable,
      decide,
      listeners: new Set(),
      takeTurn: openTurn(join(state, "turn")),
      turn: Semaphore.makeUnsafe(1),
      kept: new KeptPlace(root),
      journal: openCommitJournal({
        root,
        directory: join(own, "commits"),
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

/** Nothing of the state may be reached from any root, and no root from the state. */
const openWorkspaceRoots = (options: NodeWorkspaceOptions, roots: ReadonlyArray<WorkspaceRoot>): Root => {
  const state = stateDirectory(options)
  for (const { path } of roots) stateDirectory({ root: path, state })
  const technique = options.containment && techniques[options.containment]
  return asRoot(openNamedRoots(roots, { directory: namedDirectory(state, roots), technique }))
}

/** History of a workspace with named roots is stored apart, as its paths begin with a root's name. */
const namedDirectory = (state: string, roots: ReadonlyArray<WorkspaceRoot>): string =>
  join(
    state,
    `roots-${fingerprintBytes(Buffer.from(JSON.stringify(roots.map(({ name, path }) => [name, path])))).slice(-12)}`
  )

/** A file of any size can be scanned. */
const scanCodes = [...lookCodes, "is_directory", "not_a_regular_file", "secret_path"] as const

const makeWorkspace = (settings: CommitSettings): WorkspaceService => {
  const { root, kept, secrets } = settings
  /** Resolves a path under the call's link policy and looks at what is there. */
  const at = <A, const Code extends ErrorCode>(
    codes: ReadonlyArray<Code>,
    given: string,
    use: (place: Place) => A,
    follow = true
  ): Effect.Effect<A, ErrorWith<Code>> =>
    CurrentCall.use((call) =>
      root.reads.shared(
        attempt(codes, () => {
          const place = follow ? kept.take(call, given) : undefined
          return place === undefined
            ? withPlace(root, given, { symlinks: call.symlinks, follow }, use)
            : withHeldPlace(root, place, use)
        })
      )
    )

  const readAt = (place: Place, how: ReadOptions): Uint8Array => {
    secrets.check(place)
    return readPlace(root, place, how)
  }

  const plan = CurrentCall.use(({ symlinks }) => root.reads.shared(newPlan(settings, symlinks)))

  const scan: WorkspaceService["scan"] = (given, visit, { fingerprintUpTo = -1 } = {}) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(
        at(scanCodes, given, (place): Opened | ReadAtOnce => {
          const info = infoOf(place)
          secrets.check(place)
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
    roots:
      root.named === undefined
        ? [{ name: "", path: root.path, access: "write" }]
        : [...root.named.values()].map(({ name, path, access }) => ({ name, path, access })),
    ...(root.links !== undefined && { links: root.links }),
    contain: (given) =>
      CurrentCall.use((call) =>
        root.reads.shared(attempt(containCodes, () => resolveSteadily(given, () => kept.resolve(call, given))))
      ),
    isSecret: (path) => secrets.isSecret(path),
    secretFiles: () => secrets.present(),
    info: (given, { follow } = {}) => at(lookCodes, given, infoOf, follow),
    read: (given, { maxBytes = maximumRead } = {}) =>
      at(readCodes, given, (place) => readAt(place, { maxBytes: atMost(maxBytes) })),
    readEach: (paths, visit, { maxBytes = maximumRead } = {}) =>
      CurrentCall.use(({ symlinks }) =>
        readEach(root, paths, visit, { symlinks, secrets, maxBytes: atMost(maxBytes) })
      ),
    snapshot: (given, { maxBytes = maximumRead } = {}) =>
      at(readCodes, given, (place) => ({
        content: readAt(place, { maxBytes: atMost(maxBytes) }),
        info: infoOf(place)
      })).pipe(Effect.map((read) => ({ ...read, fingerprint: fingerprintBytes(read.content) }))),
    scan,
    list: (given) => at(listCodes, given, (place) => inDirectory(place, () => readEntries(root, heldBase(place)))),
    walk: (given, visit) =>
      at(listCodes, given, (place) => inDirectory(place, () => (readEntries(root, heldBase(place)), place.path))).pipe(
        Effect.flatMap((path) =>
          Effect.acquireUseRelease(
            Effect.sync(() => startWalk(root, path, { visit })),
            (walk) => repeatUntilDone(root.reads.shared(Effect.sync(() => walk.advance(20)))),
            (walk) => Effect.sync(walk.close)
          )
        )
      ),
    glob: (given, pattern, globOptions) =>
      at(listCodes, given, (place) => inDirectory(place, () => place.path)).pipe(
        Effect.flatMap((path) => globFiles(globSource(root), path, pattern, globOptions))
      ),
    fingerprint: (given) =>
      Effect.acquireUseRelease(
        at(lookCodes, given, (place): Opened | string => {
          if (place.found === undefined) return "absent"
          const info = infoOf(place)
          if (info.kind !== "file") return info.kind
          // Even a hash tells something about the content of a short file.
          if (secrets.isSecretFile(place.path, place.found.stats)) return stateByMetadata(place.found.stats)
          return stateByStats(place.found.stats) ?? { info, descriptor: openFile(root, place) }
        }),
        (opened) => {
          if (typeof opened === "string") return Effect.succeed(opened)
          const hash = newHash()
          const hashing = scanDescriptor(opened.descriptor, opened.info.size, (chunk) => (hash.update(chunk), true))
          return Effect.map(hashing, () => fingerprintOf(hash))
        },
        (opened) => (typeof opened === "string" ? Effect.void : Effect.sync(() => closeSync(opened.descriptor)))
      ),
    plan,
    commit: (changes) => commitChanges(plan, changes),
    onCommit: (listener) => {
      settings.listeners.add(listener)
      return () => settings.listeners.delete(listener)
    },
    undo: (what) => CurrentCall.use((call) => exclusively(settings, undoCalls(settings, requestOf(call), what))),
    // Not while a commit is made: its entry is in the history already, and its files would look as if somebody else had
    // changed them.
    previewUndo: (what) => exclusively(settings, previewUndo(settings, what))
  }
}

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
  const { size, mtimeMs, birthtimeMs, atimeMs, mode } = found.stats
  return {
    path,
    kind: kindOf(found.stats),
    size,
    modified: mtimeMs,
    mode: mode & 0o7777,
    created: birthtimeMs,
    accessed: atimeMs
  }
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
