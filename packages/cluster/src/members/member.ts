import { randomUUID } from "node:crypto"

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
import { type ClusterStatus, membership, membershipChannel, type WorkspacePlacement } from "./membership.ts"
import { type MemberEvent, type Opened, ownedWorkspaces, type Unavailable } from "./owned-workspaces.ts"
import { makeRouting, type Routing } from "./routing.ts"
import { makeUpkeep } from "./upkeep.ts"

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
  /** How often changes of background commands and new audit log entries go to the database; every 10 s by default. */
  readonly captureMs?: number
  readonly retention?: Retention
  readonly onEvent?: (event: MemberEvent) => void
}

/** One process of a cluster. */
export interface Member<W> extends Omit<Routing<W>, "expire"> {
  readonly id: string
  /** Where the workspace is now, by the database. */
  readonly find: (workspace: string) => Effect.Effect<WorkspacePlacement | undefined, DatabaseError>
  /** Addresses of the other members that can be reached, sorted; the last known ones while the database is down. */
  readonly peers: Effect.Effect<ReadonlyArray<string>>
  readonly open: () => ReadonlyMap<string, W>
  /** The clock of the database, in milliseconds. */
  readonly now: () => number
  readonly isInForce: () => boolean
  /** Bytes of audit logs that are not in the database yet. */
  readonly lag: () => number
  readonly documents: ReturnType<typeof stateDocuments>
  readonly status: Effect.Effect<ClusterStatus, DatabaseError>
  readonly move: (workspace: string, address: string) => Effect.Effect<boolean, DatabaseError>
  readonly drainMember: (address: string) => Effect.Effect<boolean, DatabaseError>
  /** Hands all workspaces over and leaves. */
  readonly leave: Effect.Effect<void>
}

const peersCacheMs = 1_000
const pruneMs = 10 * 60_000

/** Joins a cluster. The member leaves when the scope ends. */
export const joinCluster = <W>(
  options: MemberOptions<W>
): Effect.Effect<Member<W>, DatabaseError | SchemaError, Scope.Scope> =>
  Effect.gen(function* () {
    const { address, url, version, directory, workspaces, leaseMs = 6_000 } = options
    const database = yield* openDatabase({ url: options.database, timeoutMs: Math.max(1_000, leaseMs / 2) })
    yield* migrate(database)
    const members = membership(database)
    const log = commitLog(
      database,
      options.blobs === undefined ? databaseBlobs(database) : directoryBlobs(options.blobs)
    )
    const mirror = runMirror(database)
    const id = `${address}#${randomUUID().slice(0, 8)}`
    const onEvent = options.onEvent ?? (() => {})
    const wake = Latch.makeUnsafe(false)
    const lease = makeLease(leaseMs)
    const owned = yield* ownedWorkspaces<W>({
      database,
      log,
      calls: callRecords(database),
      mirror,
      directory,
      configured: workspaces,
      openOn: options.open,
      isInForce: lease.isInForce,
      describe: members.describe,
      onLost: () => void wake.openUnsafe(),
      onClosed: (name) => routing.forget(name),
      onEvent
    })
    const isConfigured = (name: string): boolean => workspaces[name] !== undefined
    const { expire, ...routing } = makeRouting({ id, members, lease, owned, isConfigured, leaseMs })
    const upkeep = yield* makeUpkeep({
      facts: { id, address, url, version, serves: Object.keys(workspaces), leaseMs },
      members,
      lease,
      owned,
      mirror,
      handOverMs: options.handOverMs ?? 1_500,
      idleMs: options.idleMs ?? 600_000,
      onEvent
    })

    yield* upkeep.join
    yield* Effect.addFinalizer(() => upkeep.leave)
    yield* database.listen(membershipChannel, () => {
      expire()
      wake.openUnsafe()
    })
    yield* every(Effect.raceFirst(wake.await, Effect.sleep(leaseMs / 4)), Effect.andThen(wake.close, upkeep.tick))
    yield* every(Effect.sleep(options.captureMs ?? 10_000), upkeep.capture)
    yield* every(Effect.sleep(pruneMs), Effect.ignore(prune(database, options.retention, options.blobs)))

    let peers: { readonly addresses: ReadonlyArray<string>; readonly until: number } = { addresses: [], until: 0 }
    return {
      ...routing,
      id,
      find: members.find,
      peers: Effect.suspend(() => {
        if (peers.until > performance.now()) return Effect.succeed(peers.addresses)
        return members.others(id).pipe(
          Effect.tap((addresses) =>
            Effect.sync(() => (peers = { addresses, until: performance.now() + peersCacheMs }))
          ),
          Effect.catch(() => Effect.succeed(peers.addresses))
        )
      }),
      open: () =>
        new Map(
          [...owned.entries].flatMap(([name, { ready }]) =>
            ready === undefined ? [] : [[name, ready.workspace.value] as const]
          )
        ),
      now: () => Date.now() + upkeep.clockOffset(),
      isInForce: lease.isInForce,
      lag: mirror.lag,
      documents: stateDocuments(database, { scope: "", cacheMs: 1_000, staleMs: leaseMs }),
      status: members.status,
      move: members.move,
      drainMember: members.drain,
      leave: upkeep.leave
    }
  })

/** Does the work each time the wait is over, until the scope ends. */
const every = (wait: Effect.Effect<unknown>, work: Effect.Effect<unknown>): Effect.Effect<void, never, Scope.Scope> =>
  Effect.asVoid(Effect.forkScoped(Effect.forever(Effect.andThen(wait, work))))
