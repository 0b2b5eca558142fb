import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"

import type { DatabaseError } from "../storage/database.ts"
import type { Lease } from "./lease.ts"
import type { Membership, WorkspacePlacement } from "./membership.ts"
import { type OwnedWorkspaces, unavailable, Unavailable } from "./owned-workspaces.ts"

/** Where a request for a workspace goes. */
export type WorkspaceRoute<W> =
  | { readonly kind: "here"; readonly value: W; readonly epoch: string }
  | { readonly kind: "there"; readonly address: string; readonly epoch: string }

/** Finds the owners of workspaces, for the requests that a member receives. */
export interface Routing<W> {
  /** Finds the owner of a workspace, or makes one; waits while there is none, up to the limit. Opens it when that is this member. */
  readonly route: (
    workspace: string,
    options?: { readonly waitMs?: number }
  ) => Effect.Effect<WorkspaceRoute<W>, Unavailable>
  /** The workspace where this member owns it, for requests that another member has sent. */
  readonly serve: (workspace: string) => Effect.Effect<W | undefined, Unavailable>
  /** Forgets where a workspace was, after its owner said that it is not. */
  readonly forget: (workspace: string) => void
  /** Makes the next request look up every placement again. */
  readonly expire: () => void
}

export interface RoutingOptions<W> {
  readonly id: string
  readonly members: Membership
  readonly lease: Lease
  readonly owned: OwnedWorkspaces<W>
  /** True for a workspace that this member is configured for. */
  readonly isConfigured: (workspace: string) => boolean
  readonly leaseMs: number
}

/** Milliseconds that a placement is used without asking the database. */
const cacheMs = 1_000
const pollMs = 150

export const makeRouting = <W>(options: RoutingOptions<W>): Routing<W> => {
  const { id, members, lease, owned, leaseMs } = options
  const { entries } = owned
  const { isInForce } = lease
  const placements = new Map<string, { readonly placement: WorkspacePlacement; readonly until: number }>()

  const cached = (name: string): Effect.Effect<WorkspacePlacement | undefined, DatabaseError> => {
    const known = placements.get(name)
    if (known !== undefined && known.until > performance.now()) return Effect.succeed(known.placement)
    return members.find(name).pipe(
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
        if (!options.isConfigured(name)) {
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

  return {
    route: (name, { waitMs = 2 * leaseMs + 8_000 } = {}) =>
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
      }),
    serve: (name) =>
      Effect.gen(function* () {
        if (!isInForce()) return yield* unavailable("the owner has lost touch with the cluster's database")
        const entry = entries.get(name)
        if (entry !== undefined && !entry.isClosing) {
          entry.used = performance.now()
          return (yield* Deferred.await(entry.opened)).workspace.value
        }
        const placement = yield* members.find(name).pipe(Effect.mapError(({ message }) => unavailable(message)))
        if (placement?.owner !== id || entries.get(name)?.isClosing === true) return undefined
        return yield* owned.open(name, placement.epoch)
      }),
    forget: (name) => void placements.delete(name),
    expire: () => {
      for (const [name, { placement }] of placements) placements.set(name, { placement, until: 0 })
    }
  }
}
