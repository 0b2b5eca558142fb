import { join } from "node:path"

import {
  type ClusterStatus,
  joinCluster,
  type Member,
  type MemberEvent,
  memberTraffic,
  type MemberTraffic,
  type Opened,
  Unavailable,
  type WorkspaceCopy
} from "@haft/cluster"
import { readNamedFile, stateHome } from "@haft/node/internal"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"

import { ConfigError, type HaftConfig } from "../config/config.ts"
import { rootOf } from "../host/standard-host.ts"
import type { Telemetry } from "../telemetry/telemetry.ts"
import { openWorkspace, type OpenWorkspace } from "../workspace/open-workspace.ts"
import { secretOf } from "./cluster-address.ts"
import type { ClusterConfig } from "./cluster-config.ts"
import { clusteredHost, type CallsByRequestId } from "./clustered-host.ts"
import { tracedTraffic } from "./traced-traffic.ts"

export interface JoinOptions {
  readonly cluster: ClusterConfig
  readonly workspaces: Readonly<Record<string, HaftConfig>>
  /** Where people and agents reach this member. */
  readonly url: string
  readonly version: string
  /** Told when a workspace is opened here, and when it is closed. */
  readonly onOpened?: (name: string, workspace: OpenWorkspace) => void
  readonly onClosed?: (name: string) => void
  readonly onEvent?: (event: MemberEvent) => void
  /** The telemetry of this process. */
  readonly telemetry?: Telemetry
}

/** This process as a member of a cluster. */
export interface JoinedCluster {
  readonly member: Member<OpenWorkspace>
  readonly traffic: MemberTraffic
  /** Addresses of the other members that can be reached, sorted. */
  readonly peers: () => Promise<ReadonlyArray<string>>
  readonly status: () => Promise<ClusterStatus>
  /** False when there is no such workspace or member. */
  readonly move: (workspace: string, address: string) => Promise<boolean>
  /** False when there is no such member. */
  readonly drain: (address: string) => Promise<boolean>
  /** Hands all workspaces over, and leaves. */
  readonly leave: () => Promise<void>
}

/** Joins a cluster; the workspaces are opened when they are asked for. */
export const joinAs = async (options: JoinOptions): Promise<JoinedCluster> => {
  const { cluster, workspaces, url, version } = options
  const secret = secretOf(cluster)
  const tls = cluster.tls === undefined ? undefined : await readTls(cluster.tls)
  const directory = cluster.directory ?? join(stateHome(), "cluster", cluster.address.replaceAll(/[^\w.-]/g, "_"))
  for (const [name, { roots }] of Object.entries(workspaces)) {
    if (roots !== undefined) throw new ConfigError(`workspace ${name}: a cluster's workspace has one root, not several`)
  }
  const scope = await Effect.runPromise(Scope.make())
  const joined = joinCluster<OpenWorkspace>({
    database: cluster.database,
    address: cluster.address,
    url,
    version,
    directory,
    workspaces: Object.fromEntries(
      Object.entries(workspaces).map(([name, config]) => [
        name,
        { seed: rootOf(config), ...(config.secretPaths !== undefined && { secretPaths: config.secretPaths }) }
      ])
    ),
    open: (copy) =>
      Effect.tryPromise({
        try: () => openOn(copy, workspaces[copy.workspace] ?? {}, options),
        catch: (cause) =>
          new Unavailable({
            code: "workspace_failed",
            problem: cause instanceof Error ? cause.message : String(cause)
          })
      }),
    ...(cluster.blobs !== undefined && { blobs: cluster.blobs }),
    ...(cluster.leaseMs !== undefined && { leaseMs: cluster.leaseMs }),
    ...(cluster.retentionDays !== undefined && { retention: { days: cluster.retentionDays } }),
    ...(options.onEvent !== undefined && { onEvent: options.onEvent })
  })
  const { telemetry } = options
  const run = telemetry === undefined ? Effect.runPromise : Effect.runPromiseWith(telemetry.context)
  const member = await run(joined.pipe(Scope.provide(scope))).catch(async (error: unknown) => {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    throw new ConfigError(`can't join the cluster: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error
    })
  })
  const traffic = memberTraffic({ secret, now: member.now, ...(tls !== undefined && { tls }) })
  return {
    member,
    traffic: telemetry === undefined ? traffic : tracedTraffic(traffic, telemetry),
    peers: () => Effect.runPromise(member.peers),
    status: () => Effect.runPromise(member.status),
    move: (workspace, address) => Effect.runPromise(member.move(workspace, address)),
    drain: (address) => Effect.runPromise(member.drainMember(address)),
    leave: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

const readTls = async (files: NonNullable<ClusterConfig["tls"]>) => ({
  cert: await readNamedFile(files.cert),
  key: await readNamedFile(files.key),
  ca: await readNamedFile(files.ca)
})

const openOn = async (
  copy: WorkspaceCopy,
  config: HaftConfig,
  options: JoinOptions
): Promise<Opened<OpenWorkspace>> => {
  const running: CallsByRequestId = new Map()
  const workspace = await openWorkspace(
    { ...config, root: copy.root, state: copy.state },
    {
      shared: { decide: copy.decide, documents: copy.documents, ledger: copy.ledger, onCommitted: copy.committed },
      ...(options.telemetry !== undefined && { telemetry: { of: options.telemetry, workspace: copy.workspace } })
    }
  )
  const hosts = new WeakMap<object, ReturnType<typeof clusteredHost>>()
  const value: OpenWorkspace = {
    ...workspace,
    host: async (dialect, caller) => {
      const host = await workspace.host(dialect, caller)
      const clustered = hosts.get(host) ?? clusteredHost(host, copy, running)
      hosts.set(host, clustered)
      return clustered
    }
  }
  options.onOpened?.(copy.workspace, value)
  return {
    value,
    isIdle: () =>
      running.size === 0 && workspace.approvals.open().length === 0 && workspace.terminals.list().length === 0,
    close: (graceMs) =>
      Effect.gen(function* () {
        options.onClosed?.(copy.workspace)
        for (const { id } of workspace.approvals.open())
          workspace.approvals.giveUp(id, "the workspace moves to another member")
        const idle = Effect.promise(() => Promise.allSettled(running.values()))
        yield* Effect.raceFirst(idle, Effect.sleep(graceMs))
        yield* Effect.promise(() => workspace.dispose().catch(() => {}))
      })
  }
}
