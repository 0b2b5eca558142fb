import * as Effect from "effect/Effect"

import type { Database, DatabaseError } from "../storage/database.ts"

/** Where a workspace is. Epochs are decimal strings, see `Ownership`. */
export interface WorkspacePlacement {
  readonly workspace: string
  readonly epoch: string
  /** The id of the member that owns it; undefined while none does. */
  readonly owner?: string
  /** Where the owner takes requests of other members. */
  readonly address?: string
  /** False when the owner's lease has ended. */
  readonly isAlive: boolean
}

/** A workspace of this member, and where it should go. */
export interface OwnedWorkspace {
  readonly name: string
  readonly epoch: string
  readonly moveTo: string | null
}

export interface Renewal {
  readonly state: "active" | "draining"
  readonly owned: ReadonlyArray<OwnedWorkspace>
  /** The database's clock, milliseconds since the epoch. Nothing depends on the clocks of members. */
  readonly databaseTime: number
}

export interface MemberFacts {
  readonly id: string
  readonly address: string
  /** Where people and agents reach the member. */
  readonly url: string
  readonly version: string
  /** Names of the workspaces that it is configured for. */
  readonly serves: ReadonlyArray<string>
  readonly leaseMs: number
}

/** One row of `haft cluster status`. */
export interface MemberStatus {
  readonly id: string
  readonly address: string
  readonly url: string
  readonly version: string
  readonly state: "active" | "draining" | "unreachable" | "left"
  readonly workspaces: number
  /** Bytes of audit logs that are not in the database yet. */
  readonly lag: number
}

export interface WorkspaceStatus {
  readonly name: string
  readonly epoch: string
  readonly commits: string
  /** The address of the owner; undefined for a workspace that nobody has open. */
  readonly owner?: string
  readonly notCarried: ReadonlyArray<string>
}

export interface ClusterStatus {
  readonly members: ReadonlyArray<MemberStatus>
  readonly workspaces: ReadonlyArray<WorkspaceStatus>
}

/** Members and ownership, in the database. */
export interface Membership {
  readonly join: (facts: MemberFacts) => Effect.Effect<void, DatabaseError>
  readonly leave: (id: string) => Effect.Effect<void, DatabaseError>
  readonly renew: (
    facts: Pick<MemberFacts, "id" | "leaseMs">,
    lag: number
  ) => Effect.Effect<Renewal | undefined, DatabaseError>
  /** Addresses of the other members whose leases are in force, sorted. */
  readonly others: (id: string) => Effect.Effect<ReadonlyArray<string>, DatabaseError>
  readonly find: (workspace: string) => Effect.Effect<WorkspacePlacement | undefined, DatabaseError>
  /** Gives a workspace to the least loaded member that serves it, or to `to`; undefined when another was quicker or none is there. */
  readonly assign: (
    workspace: string,
    options: { readonly epoch?: string; readonly to?: string; readonly besides?: string }
  ) => Effect.Effect<WorkspacePlacement | undefined, DatabaseError>
  /** Gives a workspace up, so that whoever is asked for it next opens it. */
  readonly release: (workspace: string, epoch: string) => Effect.Effect<void, DatabaseError>
  /** Workspaces whose owners' leases have ended. */
  readonly orphans: Effect.Effect<ReadonlyArray<{ readonly name: string; readonly epoch: string }>, DatabaseError>
  readonly describe: (workspace: string, notCarried: ReadonlyArray<string>) => Effect.Effect<void, DatabaseError>
  readonly status: Effect.Effect<ClusterStatus, DatabaseError>
  /** Asks the owner to hand a workspace over. False when there is no such workspace or member. */
  readonly move: (workspace: string, address: string) => Effect.Effect<boolean, DatabaseError>
  /** Asks a member to hand all workspaces over. False when there is no such member. */
  readonly drain: (address: string) => Effect.Effect<boolean, DatabaseError>
}

/** The channel on which members are told that something about ownership has changed. */
export const membershipChannel = "haft_membership"

const notify = `SELECT pg_notify('${membershipChannel}', '')`
const inForce = "m.lease_until > clock_timestamp()"
/** Rows of members that left stay for a day, so that a status can say where they went. */
const forgetAfter = "1 day"

export const membership = ({ query }: Database): Membership => {
  const find: Membership["find"] = (workspace) =>
    Effect.map(
      query<{ epoch: string; owner: string | null; address: string | null; alive: boolean | null }>(
        `SELECT w.epoch, w.owner, m.address, ${inForce} AS alive
         FROM haft.workspace w LEFT JOIN haft.member m ON m.id = w.owner WHERE w.name = $1`,
        [workspace]
      ),
      ([row]) => row && placementOf(workspace, row)
    )
  return {
    find,
    others: (id) =>
      Effect.map(
        query<{ address: string }>(
          `SELECT m.address FROM haft.member m WHERE m.id <> $1 AND m.state <> 'left' AND ${inForce} ORDER BY m.address`,
          [id]
        ),
        (rows) => rows.map(({ address }) => address)
      ),
    join: ({ id, address, url, version, serves, leaseMs }) =>
      Effect.gen(function* () {
        // Whoever listens at this address now is the only one: an earlier process there is dead.
        yield* query(
          "UPDATE haft.member SET state = 'left', lease_until = '-infinity' WHERE address = $1 AND id <> $2",
          [address, id]
        )
        yield* query(
          `DELETE FROM haft.member m WHERE m.state = 'left' AND m.started < clock_timestamp() - $1::interval
           AND NOT EXISTS (SELECT 1 FROM haft.workspace w WHERE w.owner = m.id)`,
          [forgetAfter]
        )
        yield* query(
          `INSERT INTO haft.member (id, address, url, version, serves, lease_until)
           VALUES ($1, $2, $3, $4, $5, clock_timestamp() + $6 * interval '1 millisecond')`,
          [id, address, url, version, [...serves], leaseMs]
        )
        yield* query(notify)
      }),
    leave: (id) =>
      Effect.gen(function* () {
        yield* query("UPDATE haft.member SET state = 'left', lease_until = '-infinity' WHERE id = $1", [id])
        yield* query(notify)
      }),
    renew: ({ id, leaseMs }, lag) =>
      Effect.gen(function* () {
        const [row] = yield* query<{ state: Renewal["state"]; now: string }>(
          `UPDATE haft.member SET lease_until = clock_timestamp() + $2 * interval '1 millisecond', lag = $3
           WHERE id = $1 AND state <> 'left' RETURNING state, extract(epoch FROM clock_timestamp()) * 1000 AS now`,
          [id, leaseMs, lag]
        )
        if (row === undefined) return undefined
        const owned = yield* query<{ name: string; epoch: string; move_to: string | null }>(
          "SELECT name, epoch, move_to FROM haft.workspace WHERE owner = $1",
          [id]
        )
        return {
          state: row.state,
          databaseTime: Number(row.now),
          owned: owned.map(({ name, epoch, move_to }) => ({ name, epoch, moveTo: move_to }))
        }
      }),
    assign: (workspace, { epoch, to, besides = "" }) =>
      Effect.gen(function* () {
        const [target] = yield* query<{ id: string }>(
          // The less loaded of the two that the name's hash prefers: even, and the same cost with any number of workspaces.
          `SELECT c.id FROM (
             SELECT m.id FROM haft.member m
             WHERE m.state = 'active' AND ${inForce} AND $1 = ANY (m.serves) AND m.id <> $3 AND ($2::text IS NULL OR m.id = $2)
             ORDER BY md5($1 || m.id) LIMIT 2
           ) c ORDER BY (SELECT count(*) FROM haft.workspace w WHERE w.owner = c.id), md5($1 || c.id) LIMIT 1`,
          [workspace, to ?? null, besides]
        )
        if (target === undefined) return undefined
        const taken =
          epoch === undefined
            ? yield* query(
                "INSERT INTO haft.workspace (name, epoch, owner) VALUES ($1, 1, $2) ON CONFLICT DO NOTHING RETURNING epoch",
                [workspace, target.id]
              )
            : yield* query(
                `UPDATE haft.workspace SET epoch = epoch + 1, owner = $3, move_to = NULL, used = clock_timestamp()
                 WHERE name = $1 AND epoch = $2 RETURNING epoch`,
                [workspace, epoch, target.id]
              )
        if (taken.length === 0) return undefined
        yield* query(notify)
        return yield* find(workspace)
      }),
    release: (workspace, epoch) =>
      Effect.asVoid(
        query(
          "UPDATE haft.workspace SET owner = NULL, move_to = NULL, epoch = epoch + 1 WHERE name = $1 AND epoch = $2",
          [workspace, epoch]
        )
      ),
    orphans: query<{ name: string; epoch: string }>(
      `SELECT w.name, w.epoch FROM haft.member m JOIN haft.workspace w ON w.owner = m.id
       WHERE m.lease_until <= clock_timestamp() ORDER BY w.used DESC LIMIT 100`
    ),
    describe: (workspace, notCarried) =>
      Effect.asVoid(
        query("UPDATE haft.workspace SET not_carried = $2::jsonb WHERE name = $1 AND not_carried <> $2::jsonb", [
          workspace,
          JSON.stringify(notCarried.slice(0, 100))
        ])
      ),
    status: Effect.gen(function* () {
      const members = yield* query<
        MemberStatus & { readonly alive: boolean; readonly lag: string; readonly count: string }
      >(
        `SELECT m.id, m.address, m.url, m.version, m.state, m.lag, ${inForce} AS alive,
                (SELECT count(*) FROM haft.workspace w WHERE w.owner = m.id) AS count
         FROM haft.member m ORDER BY m.address, m.started`
      )
      const workspaces = yield* query<WorkspaceRow>(
        `SELECT w.name, w.epoch, w.seq, m.address, w.not_carried
         FROM haft.workspace w LEFT JOIN haft.member m ON m.id = w.owner ORDER BY w.name`
      )
      return {
        members: members.map(({ id, address, url, version, state, alive, lag, count }) => ({
          id,
          address,
          url,
          version,
          state: alive || state === "left" ? state : ("unreachable" as const),
          workspaces: Number(count),
          lag: Number(lag)
        })),
        workspaces: workspaces.map(workspaceStatus)
      }
    }),
    move: (workspace, address) =>
      Effect.gen(function* () {
        const rows = yield* query(
          `UPDATE haft.workspace w SET move_to = m.id FROM haft.member m
           WHERE w.name = $1 AND m.address = $2 AND m.state = 'active' AND ${inForce} RETURNING w.name`,
          [workspace, address]
        )
        yield* query(notify)
        return rows.length > 0
      }),
    drain: (address) =>
      Effect.gen(function* () {
        const rows = yield* query(
          `UPDATE haft.member m SET state = 'draining' WHERE m.address = $1 AND m.state = 'active' AND ${inForce} RETURNING m.id`,
          [address]
        )
        yield* query(notify)
        return rows.length > 0
      })
  }
}

interface WorkspaceRow {
  readonly name: string
  readonly epoch: string
  readonly seq: string
  readonly address: string | null
  readonly not_carried: ReadonlyArray<string>
}

const workspaceStatus = ({ name, epoch, seq, address, not_carried }: WorkspaceRow): WorkspaceStatus => {
  const status = { name, epoch, commits: seq, notCarried: not_carried }
  return address === null ? status : { ...status, owner: address }
}

const placementOf = (
  workspace: string,
  row: {
    readonly epoch: string
    readonly owner: string | null
    readonly address: string | null
    readonly alive: boolean | null
  }
): WorkspacePlacement => ({
  workspace,
  epoch: row.epoch,
  isAlive: row.alive === true,
  ...(row.owner !== null && { owner: row.owner }),
  ...(row.address !== null && { address: row.address })
})
