import { stepSpan } from "@haft/core/internal"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

import type { WorkspaceCopy } from "../copy/workspace-copy.ts"
import type { RunMirror } from "../storage/run-mirror.ts"
import type { Lease } from "./lease.ts"
import type { MemberFacts, Membership, OwnedWorkspace } from "./membership.ts"
import type { MemberEvent, OwnedEntry, OwnedWorkspaces } from "./owned-workspaces.ts"

/** The periodic work of a member: its lease, its workspaces, and those of members that are gone. */
export interface Upkeep {
  /** Renews the lease, and opens, hands over and takes over workspaces as the database says. Never fails. */
  readonly tick: Effect.Effect<void>
  /** Joins, so that the lease is in force. */
  readonly join: Effect.Effect<void, Effect.Error<ReturnType<Membership["join"]>>>
  /** Puts into the database what commands changed and what audit logs gained. */
  readonly capture: Effect.Effect<void>
  /** Hands all workspaces over and leaves. */
  readonly leave: Effect.Effect<void>
  /** The database's clock minus the one of this process, in milliseconds. */
  readonly clockOffset: () => number
}

export interface UpkeepOptions<W> {
  readonly facts: MemberFacts
  readonly members: Membership
  readonly lease: Lease
  readonly owned: OwnedWorkspaces<W>
  readonly mirror: RunMirror
  /** How long calls may go on when their workspace moves. */
  readonly handOverMs: number
  /** A workspace that was not used for so long is closed. */
  readonly idleMs: number
  readonly onEvent: (event: MemberEvent) => void
}

export const makeUpkeep = <W>(options: UpkeepOptions<W>): Effect.Effect<Upkeep, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const { facts, members, lease, owned, mirror, handOverMs, idleMs } = options
    const { id } = facts
    const { entries } = owned
    let clockOffset = 0
    let isLeaving = false
    let isReachable = true
    /** Paths that were described last, so that an idle workspace costs no statement. */
    const described = new WeakMap<WorkspaceCopy, string>()

    const renew = Effect.gen(function* () {
      const sent = performance.now()
      const renewal = yield* members.renew(facts, mirror.lag())
      lease.renew(sent)
      if (renewal !== undefined) clockOffset = renewal.databaseTime - Date.now()
      if (!isReachable) options.onEvent({ type: "database", isReachable: true })
      isReachable = true
      return renewal
    })

    /** Closes a workspace and gives it to another member, or to nobody. */
    const handOver = (name: string, entry: OwnedEntry<W> | undefined, to: { readonly to?: string }, why: string) =>
      Effect.gen(function* () {
        if (entry !== undefined) yield* owned.close(name, entry, why, handOverMs)
        const placement = yield* members.find(name)
        if (placement?.owner !== id) return
        const next = yield* members.assign(name, { epoch: placement.epoch, besides: id, ...to })
        if (next === undefined) yield* members.release(name, placement.epoch)
      }).pipe(stepSpan("hand_over", { "haft.workspace": name }))

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

    return {
      clockOffset: () => clockOffset,
      join: Effect.andThen(members.join(facts), Effect.asVoid(renew)),
      tick: Effect.gen(function* () {
        yield* owned.closeLost
        const renewal = yield* renew
        if (renewal === undefined) {
          if (!isLeaving) yield* members.join(facts)
          return
        }
        yield* keepOwned(renewal.owned, renewal.state)
        yield* takeOrphans
      }).pipe(
        Effect.catch(({ message }) =>
          Effect.sync(() => {
            if (isReachable) options.onEvent({ type: "database", isReachable: false, problem: message })
            isReachable = false
          })
        ),
        Effect.catchDefect((defect) => Effect.logError("a tick of the cluster member failed", defect))
      ),
      capture: Effect.suspend(() =>
        Effect.forEach(
          [...entries.entries()],
          ([name, { ready }]) =>
            ready === undefined
              ? Effect.void
              : Effect.ignore(
                  Effect.gen(function* () {
                    yield* ready.copy.capture
                    yield* mirror.flush(name, ready.copy.state)
                    const notCarried = ready.copy.notCarried()
                    if (described.get(ready.copy) === notCarried.join("\0")) return
                    yield* members.describe(name, notCarried)
                    described.set(ready.copy, notCarried.join("\0"))
                  })
                ),
          { discard: true }
        )
      ),
      leave: Effect.gen(function* () {
        if (isLeaving) return
        isLeaving = true
        yield* Effect.forEach(
          [...entries.entries()],
          ([name, entry]) => Effect.ignore(handOver(name, entry, {}, "the member leaves")),
          { concurrency: 16, discard: true }
        )
        yield* Effect.ignore(members.leave(id))
      }).pipe(Effect.uninterruptible)
    }
  })
