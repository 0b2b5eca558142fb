import {
  DialectNotAllowed,
  dialectNames,
  type HaftConfig,
  openWorkspace,
  type OpenWorkspace,
  type Telemetry
} from "haft/internal"
import { describeQuestion, type McpFetchHandler, mcpFetchHandler, mcpServer } from "haft/mcp"

import { Problem } from "./http/problem.ts"
import type { CallerIdentity } from "./identity.ts"

/** The workspaces of a server by name, each with its own dialect, policy and state. */
export interface Workspaces {
  /** Those that are open in this process. */
  readonly all: () => Iterable<readonly [string, OpenWorkspace]>
  /** Names of all workspaces of the server, open here or at another member of a cluster. */
  readonly names: ReadonlyArray<string>
  /** Calls back for every workspace that is open, and that is opened later; the returned function ends it. */
  readonly onOpened: (listener: (name: string, workspace: OpenWorkspace) => void) => () => void
  /** The configuration of a workspace. */
  readonly config: (name: string) => HaftConfig
  /** Fails with 404 on a name that is not known. */
  readonly named: (name: string | undefined) => OpenWorkspace
  /** The host of a workspace in a dialect. Fails with 400 on an unknown dialect, with 403 on one not granted to agents. */
  readonly host: (name: string | undefined, dialect?: string, caller?: CallerIdentity) => Promise<Host>
  /**
   * The MCP handler of a workspace in a dialect for one caller, made on first use. Sessions, questions and cancellations
   * belong to a handler, so no caller can reach those of another.
   */
  readonly mcp: (name: string | undefined, caller: CallerIdentity, dialect?: string) => Promise<McpFetchHandler>
  readonly dispose: () => Promise<void>
}

type Host = Awaited<ReturnType<OpenWorkspace["host"]>>

/** Workspaces that are opened and closed while the server runs, by whoever owns them. */
export interface WorkspaceSet extends Workspaces {
  readonly add: (name: string, workspace: OpenWorkspace) => void
  /** Forgets a workspace that somebody else closes, and ends the MCP sessions on it. */
  readonly remove: (name: string) => void
}

/** Opens all workspaces of a configuration. */
export const openWorkspaces = async (
  configs: Readonly<Record<string, HaftConfig>>,
  version: string,
  telemetry: Telemetry
): Promise<Workspaces> => {
  const workspaces = workspaceSet(configs, version)
  try {
    for (const [name, config] of Object.entries(configs)) {
      const workspace = await openWorkspace(config, { telemetry: { of: telemetry, workspace: name } })
      workspaces.add(name, workspace)
      // Opened now, so that a broken plugin stops the server from starting instead of failing the first call.
      await workspace.host()
    }
  } catch (error) {
    await workspaces.dispose()
    throw error
  }
  return workspaces
}

/** An empty set of workspaces with these configurations. */
export const workspaceSet = (configs: Readonly<Record<string, HaftConfig>>, version: string): WorkspaceSet => {
  const open = new Map<string, OpenWorkspace>()
  const mounts = new Map<string, { readonly name: string; readonly handler: Promise<McpFetchHandler> }>()
  const listeners = new Set<(name: string, workspace: OpenWorkspace) => void>()
  const unmount = async (isGone: (name: string) => boolean): Promise<void> => {
    for (const [key, { name, handler }] of mounts) {
      if (!isGone(name)) continue
      mounts.delete(key)
      await handler.then((mounted) => mounted.close()).catch(() => {})
    }
  }
  const dispose = async (): Promise<void> => {
    await unmount(() => true)
    for (const workspace of open.values()) await workspace.dispose()
  }

  const named = (name = ""): OpenWorkspace => {
    const workspace = open.get(name)
    if (workspace === undefined) {
      throw new Problem(
        404,
        "unknown_workspace",
        `There is no workspace '${name}'. There are: ${Object.keys(configs).join(", ")}.`
      )
    }
    return workspace
  }
  const hostOf: Workspaces["host"] = (name, dialect, caller) => {
    const workspace = named(name)
    if (dialect !== undefined && !workspace.dialects.includes(dialect)) requireKnown(dialect)
    const isPerson = caller !== undefined && caller.role !== "agent"
    return workspace.host(dialect, { isPerson }).catch((error: unknown) => {
      if (!(error instanceof DialectNotAllowed)) throw error
      throw new Problem(
        403,
        "dialect_not_allowed",
        `${error.message}. Whoever runs the server can grant it with alsoDialects.`
      )
    })
  }
  const mount = async (caller: CallerIdentity, name?: string, dialect?: string): Promise<McpFetchHandler> => {
    const shared = await hostOf(name, dialect)
    const party = { name: caller.name, role: caller.role }
    const call: Host["call"] = (tool, args, options) => shared.call(tool, args, { ...options, caller: party })
    const artifacts: Host["artifacts"] = {
      list: () => shared.artifacts.list({ caller: party }),
      read: (address, range) => shared.artifacts.read(address, { ...range, caller: party })
    }
    const host = { ...shared, call, artifacts }
    // A client that answers for its user would let an agent approve its own calls, so that is opt-in.
    const asksElsewhere = configs[name ?? ""]?.approvalOptions?.askClient === true ? true : "always"
    return mcpFetchHandler(mcpServer(host, { version, asksElsewhere, describe: describeQuestion }))
  }

  return {
    all: () => open,
    names: Object.keys(configs),
    config: (name) => configs[name] ?? {},
    onOpened: (listener) => {
      listeners.add(listener)
      for (const [name, workspace] of open) listener(name, workspace)
      return () => void listeners.delete(listener)
    },
    add: (name, workspace) => {
      open.set(name, workspace)
      for (const listener of listeners) listener(name, workspace)
    },
    remove: (name) => {
      open.delete(name)
      void unmount((mounted) => mounted === name)
    },
    named,
    host: hostOf,
    mcp: (name, caller, dialect) => {
      const key = JSON.stringify([name, dialect, caller.client])
      const mounted = mounts.get(key) ?? { name: name ?? "", handler: mount(caller, name, dialect) }
      mounts.set(key, mounted)
      mounted.handler.catch(() => mounts.delete(key))
      return mounted.handler
    },
    dispose
  }
}

const requireKnown = (dialect: string): void => {
  if (dialectNames.some((known) => known === dialect)) return
  throw new Problem(400, "unknown_dialect", `There is no dialect '${dialect}'. There are: ${dialectNames.join(", ")}.`)
}
