import { randomUUID } from "node:crypto"

import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"

import type { WorkspaceCopy } from "../copy/workspace-copy.ts"
import { databaseBlobs, directoryBlobs } from "../storage/blob-store.ts"
import { callRecords } from "../storage/call-records.ts"
import { commitLog } from "../storage/commit-log.ts"
import { type DatabaseError, openDatabase } from "../storage/database.ts"
import { migrate, type SchemaError } from "../storage/migrations.ts"
import { prune, type Retention } from "../storage/retention.ts"
import { runMirror } from "../storage/run-mirror.ts"
import { stateDocuments } from "../storage/state-documents.ts"
import { makeLease } from "./lease.ts"
import {
  type ClusterStatus,
  membership,
  membershipChannel,
  type OwnedWorkspace,
  type WorkspacePlacement
} from "./membership.ts"
import {
  type MemberEvent,
  type Opened,
  type OwnedEntry,
  ownedWorkspaces,
  unavailable,
  Unavailable
} from "./owned-workspaces.ts"

export interface MemberOptions<W> {
  /** `postgres://…` */
  readonly database: string
  /** Where other members reach this one. */
  readonly address: string
  /** Where people and agents reach this one. */
  readonly url: string
  readonly version: string
  /** Where this member keeps its copies. */
  readonly directory: string
  /** The directory of large contents, reachable by all members; the database when absent. */
  readonly blobs?: string
  /** Workspaces by name, with the directory that is imported first. */
  readonly workspaces: Readonly<Record<string, { readonly seed: string; readonly secretPaths?: ReadonlyArray<string> }>>
  readonly open: (copy: WorkspaceCopy) => Effect.Effect<Opened<W>, Unavailable>
  /** How long a member may be out of touch before others take its workspaces; 6 s by default. */
  readonly leaseMs?: number
  /** How long calls may go on when their workspace moves; 1.5 s by default. */
  readonly handOverMs?: number
  /** A workspace that was not used for so long is closed; 10 minutes by default. */
  readonly idleMs?: number
  readonly retention?: Retention
  readonly onEvent?: (event: MemberEvent) => void
}

/** Where a request for a workspace goes. */
export type WorkspaceRoute<W> =
  | { readonly kind: "here"; readonly value: W; readonly epoch: string }
  | { readonly kind: "there"; readonly address: string; readonly epoch: string }

/** One process of a cluster. */
export interface Member<W> {
  readonly id: string
  /** Finds the owner of a workspace, or makes one; waits while there is none, up to the limit. Opens it when that is this member. */
  readonly route: (
    workspace: string,
    options?: { readonly waitMs?: number }
  ) => Effect.Effect<WorkspaceRoute<W>, Unavailable>
  /** The workspace where this member owns it, for requests that another member has sent. */
  readonly serve: (workspace: string) => Effect.Effect<W | undefined, Unavailable>
  /** Where the workspace is now, by the database. */
  readonly find: (workspace: string) => Effect.Effect<WorkspacePlacement | undefined, DatabaseError>
  /** Forgets where a workspace was, after its owner said that it is not. */
  readonly forget: (workspace: string) => void
  readonly open: () => ReadonlyMap<string, W>
  /** The clock of the database, in milliseconds. */
  readonly now: () => number
  readonly isInForce: () => boolean
  readonly documents: ReturnType<typeof stateDocuments>
  readonly status: Effect.Effect<ClusterStatus, DatabaseError>
  readonly move: (workspace: string, address: string) => Effect.Effect<boolean, DatabaseError>
  readonly drainMember: (address: string) => Effect.Effect<boolean, DatabaseError>
  /** Hands all workspaces over and leaves. */
  readonly leave: Effect.Effect<void>
}

const cacheMs = 1_000
const pollMs = 150
const captureMs = 10_000
const pruneMs = 10 * 60_000

/** Joins a cluster. The member leaves when the scope ends. */
export const joinCluster = <W>(
  options: MemberOptions<W>
): Effect.Effect<Member<W>, DatabaseError | SchemaError, Scope.Scope> =>
  Effect.gen(function* () {
    const {
      address,
      url,
      version,
      directory,
      workspaces,
      leaseMs = 6_000,
      handOverMs = 1_500,
      idleMs = 600_000
    } = options
    const database = yield* openDatabase({ url: options.database, timeoutMs: Math.max(1_000, leaseMs / 2) })
    yield* migrate(database)
    const members = membership(database)
    const log = commitLog(
      database,
      options.blobs === undefined ? databaseBlobs(database) : directoryBlobs(options.blobs)
    )
    const mirror = runMirror(database)
    const id = `${address}#${randomUUID().slice(0, 8)}`
    const serves = Object.keys(workspaces)
    const tell = options.onEvent ?? (() => {})

    const placements = new Map<string, { readonly placement: WorkspacePlacement; readonly until: number }>()
    const wake = Latch.makeUnsafe(false)
    const scope = yield* Effect.scope
    const lease = makeLease(leaseMs)
    const { isInForce } = lease
    let clockOffset = 0
    let isLeaving = false
    let isReachable = true
    const owned = yield* ownedWorkspaces<W>({
      database,
      log,
      calls: callRecords(database),
      mirror,
      directory,
      configured: workspaces,
      openOn: options.open,
      isInForce,
      onLost: () => void wake.openUnsafe(),
      onClosed: (name) => void placements.delete(name),
      onEvent: tell
    })
    const { entries } = owned

    const renew = Effect.gen(function* () {
      const sent = performance.now()
      const renewal = yield* members.renew({ id, leaseMs }, mirror.lag())
      lease.renew(sent)
      if (renewal !== undefined) clockOffset = renewal.databaseTime - Date.now()
      if (!isReachable) tell({ type: "database", isReachable: true })
      isReachable = true
      return renewal
    })

    const find = (name: string) => members.find(name)
    const cached = (name: string): Effect.Effect<WorkspacePlacement | undefined, DatabaseError> => {
      const known = placements.get(name)
      if (known !== undefined && known.until > performance.now()) return Effect.succeed(known.placement)
      return find(name).pipe(
        Effect.tap((placement) =>
          Effect.sync(() => {
            if (placement?.isAlive === true) placements.set(name, { placement, until: performance.now() + cacheMs })
            else placements.delete(name)
          })
        ),
        // Without the database nothing moves, so what was known last is good as long as this member's lease.
        Effect.catch((error) => (known === undefined ? Effect.fail(error) : Effect.succeed(known.placement)))
      )
    }
    /** One attempt to find a living owner. */
    const look = (name: string): Effect.Effect<WorkspaceRoute<W> | undefined, Unavailable | DatabaseError> =>
      Effect.gen(function* () {
        if (!isInForce()) return undefined
        const entry = entries.get(name)
        if (entry?.ready !== undefined && !entry.isClosing && !entry.ready.copy.isLost()) {
          entry.used = performance.now()
          return { kind: "here", value: entry.ready.workspace.value, epoch: entry.epoch } satisfies WorkspaceRoute<W>
        }
        const placement = yield* cached(name)
        if (placement === undefined) {
          if (workspaces[name] === undefined) {
            return yield* new Unavailable({
              code: "unknown_workspace",
              problem: `no member is configured for workspace '${name}'`
            })
          }
          yield* members.assign(name, {})
          return undefined
        }
        const { owner, epoch, isAlive } = placement
        if (owner === undefined || (!isAlive && lease.mayTakeOver())) {
          placements.delete(name)
          yield* members.assign(name, { epoch })
          return undefined
        }
        if (!isAlive) return undefined
        if (owner !== id) return { kind: "there", address: placement.address ?? "", epoch } satisfies WorkspaceRoute<W>
        if (entries.get(name)?.isClosing === true) {
          placements.delete(name)
          return undefined
        }
        return { kind: "here", value: yield* owned.open(name, epoch), epoch } satisfies WorkspaceRoute<W>
      })

    const route: Member<W>["route"] = (name, { waitMs = 2 * leaseMs + 8_000 } = {}) =>
      Effect.gen(function* () {
        const deadline = performance.now() + waitMs
        let problem = "no member owns the workspace"
        for (;;) {
          const found = yield* look(name).pipe(
            Effect.catchTag("DatabaseError", ({ message }) => {
              problem = message
              return Effect.succeed(undefined)
            })
          )
          if (found !== undefined) return found
          if (!isInForce()) return yield* unavailable("this member has lost touch with the cluster's database")
          if (performance.now() > deadline)
            return yield* unavailable(`${problem}, and none did within ${Math.round(waitMs / 1000)} s`)
          yield* Effect.sleep(pollMs)
        }
      })

    const serve: Member<W>["serve"] = (name) =>
      Effect.gen(function* () {
        if (!isInForce()) return yield* unavailable("the owner has lost touch with the cluster's database")
        const entry = entries.get(name)
        if (entry !== undefined && !entry.isClosing) {
          entry.used = performance.now()
          return (yield* Deferred.await(entry.opened)).workspace.value
        }
        const placement = yield* find(name).pipe(Effect.mapError(({ message }) => unavailable(message)))
        if (placement?.owner !== id || entries.get(name)?.isClosing === true) return undefined
        return yield* owned.open(name, placement.epoch)
      })

    /** Closes a workspace and gives it to another member, or to nobody. */
    const handOver = (name: string, entry: OwnedEntry<W> | undefined, to: { readonly to?: string }, why: string) =>
      Effect.gen(function* () {
        if (entry !== undefined) yield* owned.close(name, entry, why, handOverMs)
        const placement = yield* find(name)
        if (placement?.owner !== id) return
        const next = yield* members.assign(name, { epoch: placement.epoch, besides: id, ...to })
        if (next === undefined) yield* members.release(name, placement.epoch)
      })

    const keepOwned = (mine: ReadonlyArray<OwnedWorkspace>, state: string) =>
      Effect.gen(function* () {
        const names = new Map(mine.map((one) => [one.name, one]))
        for (const [name, entry] of entries) {
          const epoch = entry.ready?.copy.ownership().epoch ?? entry.epoch
          const row = names.get(name)
          if (row === undefined || BigInt(row.epoch) > BigInt(epoch)) {
            yield* Effect.forkIn(owned.close(name, entry, "it has a new owner", 0), scope)
          }
        }
        for (const { name, epoch, moveTo } of mine) {
          const entry = entries.get(name)
          if (entry?.isClosing === true) continue
          const isIdle = entry?.ready?.workspace.isIdle() === true && performance.now() - entry.used > idleMs
          if (state === "draining" || isLeaving)
            yield* Effect.forkIn(Effect.ignore(handOver(name, entry, {}, "the member drains")), scope)
          else if (moveTo !== null && moveTo !== id)
            yield* Effect.forkIn(Effect.ignore(handOver(name, entry, { to: moveTo }, "it moves")), scope)
          else if (isIdle && entry !== undefined) {
            yield* Effect.forkIn(
              Effect.ignore(Effect.andThen(owned.close(name, entry, "it is idle", 0), members.release(name, epoch))),
              scope
            )
          } else if (entry === undefined) yield* Effect.forkIn(Effect.ignore(owned.open(name, epoch)), scope)
        }
      })

    const takeOrphans = Effect.gen(function* () {
      if (!lease.mayTakeOver() || isLeaving) return
      for (const { name, epoch } of yield* members.orphans) yield* members.assign(name, { epoch })
    })

    const tick = Effect.gen(function* () {
      yield* owned.closeLost
      const renewal = yield* renew
      if (renewal === undefined) {
        if (!isLeaving) yield* members.join({ id, address, url, version, serves, leaseMs })
        return
      }
      yield* keepOwned(renewal.owned, renewal.state)
      yield* takeOrphans
    }).pipe(
      Effect.catch(({ message }) =>
        Effect.sync(() => {
          if (isReachable) tell({ type: "database", isReachable: false, problem: message })
          isReachable = false
        })
      ),
      Effect.catchDefect((defect) => Effect.logError("a tick of the cluster member failed", defect))
    )

    const capture = Effect.forEach(
      [...entries.entries()],
      ([name, { ready }]) =>
        ready === undefined
          ? Effect.void
          : Effect.ignore(
              Effect.gen(function* () {
                yield* ready.copy.capture
                yield* mirror.flush(name, ready.copy.state)
                yield* members.describe(name, ready.copy.notCarried())
              })
            ),
      { discard: true }
    )

    const leave = Effect.gen(function* () {
      if (isLeaving) return
      isLeaving = true
      yield* Effect.forEach(
        [...entries.entries()],
        ([name, entry]) => Effect.ignore(handOver(name, entry, {}, "the member leaves")),
        {
          concurrency: 16,
          discard: true
        }
      )
      yield* Effect.ignore(members.leave(id))
    }).pipe(Effect.uninterruptible)

    yield* members.join({ id, address, url, version, serves, leaseMs })
    yield* renew
    yield* Effect.addFinalizer(() => leave)
    yield* database.listen(membershipChannel, () => {
      for (const [name, { placement }] of placements) placements.set(name, { placement, until: 0 })
      wake.openUnsafe()
    })
    yield* Effect.forkScoped(
      Effect.forever(
        Effect.gen(function* () {
          yield* Effect.raceFirst(wake.await, Effect.sleep(leaseMs / 4))
          wake.closeUnsafe()
          yield* tick
        })
      )
    )
    yield* Effect.forkScoped(
      Effect.forever(
        Effect.andThen(
          Effect.sleep(captureMs),
          Effect.suspend(() => capture)
        )
      )
    )
    yield* Effect.forkScoped(
      Effect.forever(
        Effect.andThen(Effect.sleep(pruneMs), Effect.ignore(prune(database, options.retention, options.blobs)))
      )
    )

    return {
      id,
      route,
      serve,
      find,
      forget: (name) => void placements.delete(name),
      open: () =>
        new Map(
          [...entries].flatMap(([name, { ready }]) =>
            ready === undefined ? [] : [[name, ready.workspace.value] as const]
          )
        ),
      now: () => Date.now() + clockOffset,
      isInForce,
      documents: stateDocuments(database, { scope: "", cacheMs, staleMs: leaseMs }),
      status: members.status,
      move: members.move,
      drainMember: members.drain,
      leave
    }
  })
