import { statSync } from "node:fs"
import { join } from "node:path"

import {
  commitChanges,
  CurrentCall,
  isToolError,
  toolError,
  Workspace,
  type WorkspaceRoot,
  type WorkspaceService
} from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"

import { attempt, type ErrorWith, fromErrno, lookCodes, naming, notADirectory, stateName } from "../errno.ts"
import { stateDirectory } from "../state/state-directory.ts"
import { type CommitSettings, type Decide, decideLocally, newPlan, recover, requestOf } from "./commit/commit.ts"
import { exclusively, openTurn } from "./commit/lock.ts"
import { openCommitJournal } from "./commit/write-ahead-log.ts"
import { fingerprintBytes } from "./content.ts"
import { asRoot, closeRoot, openRoot, type Root } from "./paths/containment.ts"
import { type Technique, techniques } from "./paths/handles.ts"
import { KeptPlace } from "./paths/last-path-cache.ts"
import { openNamedRoots } from "./paths/named-roots.ts"
import { SecretFiles } from "./secrets/secret-files.ts"
import { openHistory } from "./undo/history.ts"
import { previewUndo, undoCalls } from "./undo/undo.ts"
import { readsOf } from "./workspace-reads.ts"

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

const makeWorkspace = (settings: CommitSettings): WorkspaceService => {
  const plan = CurrentCall.use(({ symlinks }) => settings.root.reads.shared(newPlan(settings, symlinks)))
  return {
    ...readsOf(settings),
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

/** A directory as a workspace that refuses every change, for as long as the scope is open. */
export const readOnlyWorkspace = Effect.fnUntraced(function* (
  directory: string
): Effect.fn.Return<WorkspaceService, ErrorWith<(typeof openCodes)[number]>, Scope.Scope> {
  const tree = yield* Effect.acquireRelease(
    attempt(openCodes, () => {
      const root = openWorkspaceRoot({ root: directory })
      return { root, kept: new KeptPlace(root), secrets: new SecretFiles(root) }
    }),
    ({ root, kept }) =>
      Effect.sync(() => {
        kept.forget()
        closeRoot(root)
      })
  )
  const noHistory = () => toolError("no_history", `${directory} is read-only, so it has no undo history`)
  const plan = Effect.die(new Error(`${directory} is only read`))
  return {
    ...readsOf(tree),
    roots: [{ name: "", path: tree.root.path, access: "read" }],
    plan,
    commit: () => plan,
    undo: noHistory,
    previewUndo: noHistory
  }
})
