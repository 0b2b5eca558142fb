import { stepSpan } from "@haft/core/internal"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"

import { openCopy, type WorkspaceCopy } from "../copy/workspace-copy.ts"
import { type CallRecords } from "../storage/call-records.ts"
import { type CommitLog } from "../storage/commit-log.ts"
import type { Database } from "../storage/database.ts"
import type { RunMirror } from "../storage/run-mirror.ts"
import { stateDocuments } from "../storage/state-documents.ts"
import type { Membership } from "./membership.ts"

/** Why a workspace can't be used through this member now. */
export class Unavailable extends Data.TaggedError("Unavailable")<{
  readonly code: "cluster_unavailable" | "unknown_workspace" | "workspace_failed"
  readonly problem: string
}> {
  override get message(): string {
    return this.problem
  }
}

/** A workspace as the embedder has opened it on a copy. */
export interface Opened<W> {
  readonly value: W
  /** Waits for calls that run, within the limit, and closes. */
  readonly close: (graceMs: number) => Effect.Effect<void>
  /** True when it can be closed without anybody noticing. */
  readonly isIdle: () => boolean
}

/** Event in the life of a workspace at this member. */
export type MemberEvent =
  | { readonly type: "opened"; readonly workspace: string; readonly epoch: string; readonly milliseconds: number }
  | { readonly type: "closed"; readonly workspace: string; readonly why: string }
  | { readonly type: "failed"; readonly workspace: string; readonly why: string }
  | { readonly type: "database"; readonly isReachable: boolean; readonly problem?: string }

/** A workspace that is being opened, is open, or is being closed. */
export interface OwnedEntry<W> {
  readonly epoch: string
  readonly opened: Deferred.Deferred<{ readonly copy: WorkspaceCopy; readonly workspace: Opened<W> }, Unavailable>
  ready?: { readonly copy: WorkspaceCopy; readonly workspace: Opened<W> }
  used: number
  isClosing: boolean
}

/** The workspaces of a member, from the moment it is told to open one until it has closed it. */
export interface OwnedWorkspaces<W> {
  readonly entries: ReadonlyMap<string, OwnedEntry<W>>
  /** The workspace of an epoch, opened by whoever asks first. */
  readonly open: (name: string, epoch: string) => Effect.Effect<W, Unavailable>
  readonly close: (name: string, entry: OwnedEntry<W>, why: string, graceMs: number) => Effect.Effect<void>
  /** Closes those whose copies can't be used any longer. */
  readonly closeLost: Effect.Effect<void>
}

export interface OwnedWorkspacesOptions<W> {
  readonly database: Database
  readonly log: CommitLog
  readonly calls: CallRecords
  readonly mirror: RunMirror
  readonly directory: string
  readonly configured: Readonly<Record<string, { readonly seed: string; readonly secretPaths?: ReadonlyArray<string> }>>
  readonly openOn: (copy: WorkspaceCopy) => Effect.Effect<Opened<W>, Unavailable>
  readonly isInForce: () => boolean
  /** Stores which paths of a workspace are not carried over. */
  readonly describe: Membership["describe"]
  /** Told that `closeLost` has something to do. */
  readonly onLost: () => void
  readonly onClosed: (name: string) => void
  readonly onEvent: (event: MemberEvent) => void
}

/** Copies that are restored at the same time. */
const openAtOnce = 4

export const ownedWorkspaces = <W>(
  options: OwnedWorkspacesOptions<W>
): Effect.Effect<OwnedWorkspaces<W>, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const { database, log, calls, mirror, directory, configured, onEvent } = options
    const entries = new Map<string, OwnedEntry<W>>()
    const lost = new Map<OwnedEntry<W>, { readonly name: string; readonly why: string }>()
    const opening = Semaphore.makeUnsafe(openAtOnce)

    const close: OwnedWorkspaces<W>["close"] = (name, entry, why, graceMs) =>
      Effect.gen(function* () {
        if (entry.isClosing) return
        entry.isClosing = true
        const { ready } = entry
        if (ready !== undefined) {
          yield* ready.workspace.close(graceMs)
          if (!ready.copy.isLost()) yield* Effect.ignore(ready.copy.settle)
          yield* Effect.ignore(mirror.flush(name, ready.copy.state))
        }
        if (entries.get(name) === entry) entries.delete(name)
        options.onClosed(name)
        onEvent({ type: "closed", workspace: name, why })
      }).pipe(Effect.uninterruptible)

    const openEntry = (name: string, entry: OwnedEntry<W>) =>
      Effect.gen(function* () {
        const begin = performance.now()
        const { seed, secretPaths } = configured[name] ?? {}
        if (seed === undefined) {
          const problem = `this member is not configured for workspace '${name}'`
          return yield* new Unavailable({ code: "unknown_workspace", problem })
        }
        const copy: WorkspaceCopy = yield* openCopy({
          ownership: { workspace: name, epoch: entry.epoch },
          log,
          calls,
          // All changes of a workspace's documents go through its owner, which is this member while its lease is in force.
          documents: stateDocuments(database, { scope: name, cacheMs: 1_000, staleMs: Number.POSITIVE_INFINITY }),
          directory,
          seed,
          ...(secretPaths !== undefined && { secretPaths }),
          isInForce: options.isInForce,
          onLost: (why) => {
            lost.set(entry, { name, why })
            options.onLost()
          }
        }).pipe(Effect.mapError(({ message }) => unavailable(message)))
        yield* mirror.restore(name, copy.state).pipe(Effect.mapError(({ message }) => unavailable(message)))
        yield* Effect.ignore(options.describe(name, copy.notCarried()))
        const workspace = yield* options.openOn(copy)
        entry.ready = { copy, workspace }
        onEvent({ type: "opened", workspace: name, epoch: entry.epoch, milliseconds: performance.now() - begin })
        return entry.ready
      }).pipe(
        stepSpan("open", { "haft.workspace": name, "haft.epoch": entry.epoch }),
        Effect.catchDefect((defect) => unavailable(defect instanceof Error ? defect.message : String(defect))),
        opening.withPermits(1),
        Effect.tapError(({ message }) =>
          Effect.sync(() => {
            if (entries.get(name) === entry) entries.delete(name)
            onEvent({ type: "failed", workspace: name, why: message })
          })
        ),
        Effect.exit,
        Effect.flatMap((exit) => Deferred.done(entry.opened, exit))
      )

    return {
      entries,
      close,
      open: (name, epoch) =>
        Effect.gen(function* () {
          const known = entries.get(name)
          if (known !== undefined && known.epoch !== epoch && known.ready?.copy.ownership().epoch !== epoch) {
            yield* close(name, known, "it has a new epoch", 0)
          }
          const current = entries.get(name)
          const used = performance.now()
          const entry: OwnedEntry<W> = current ?? { epoch, opened: Deferred.makeUnsafe(), used, isClosing: false }
          if (current === undefined) {
            entries.set(name, entry)
            yield* Effect.forkIn(openEntry(name, entry), scope)
          }
          const { workspace } = yield* Deferred.await(entry.opened)
          entry.used = performance.now()
          return workspace.value
        }),
      closeLost: Effect.suspend(() => {
        const all = [...lost]
        lost.clear()
        return Effect.forEach(all, ([entry, { name, why }]) => Effect.forkIn(close(name, entry, why, 0), scope), {
          discard: true
        })
      })
    }
  })

export const unavailable = (problem: string): Unavailable => new Unavailable({ code: "cluster_unavailable", problem })
