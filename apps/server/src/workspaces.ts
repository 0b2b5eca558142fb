import { type DialectName, dialectNames, type HaftConfig, openWorkspace, type OpenWorkspace } from "haft"
import { describeQuestion, type McpFetchHandler, mcpFetchHandler, mcpServer } from "haft/mcp"

import { Problem } from "./http/problem.ts"

/** The workspaces of a server by name, each with its own dialect, policy and state. */
export interface Workspaces {
  readonly all: () => Iterable<readonly [string, OpenWorkspace]>
  /** Fails with 404 on a name that is not known. */
  readonly named: (name: string | undefined) => OpenWorkspace
  /** The MCP handler of a workspace in a dialect; made when it is first asked for. */
  readonly mcp: (name: string | undefined, dialect?: string) => Promise<McpFetchHandler>
  readonly dispose: () => Promise<void>
}

export const openWorkspaces = async (
  configs: Readonly<Record<string, HaftConfig>>,
  version: string
): Promise<Workspaces> => {
  const open = new Map<string, OpenWorkspace>()
  const mounts = new Map<string, Promise<McpFetchHandler>>()
  const dispose = async (): Promise<void> => {
    for (const mounted of mounts.values()) await mounted.then((handler) => handler.close()).catch(() => {})
    for (const workspace of open.values()) await workspace.dispose()
  }
  try {
    for (const [name, config] of Object.entries(configs)) {
      const workspace = await openWorkspace(config)
      open.set(name, workspace)
      // Opened now, so that a broken plugin stops the server from starting instead of failing the first call.
      await workspace.host()
    }
  } catch (error) {
    await dispose()
    throw error
  }

  const named = (name = ""): OpenWorkspace => {
    const workspace = open.get(name)
    if (workspace === undefined) {
      throw new Problem(
        404,
        "unknown_workspace",
        `There is no workspace '${name}'. There are: ${[...open.keys()].join(", ")}.`
      )
    }
    return workspace
  }
  const mount = async (name: string | undefined, dialect?: DialectName): Promise<McpFetchHandler> => {
    const host = await named(name).host(dialect)
    const asksElsewhere = configs[name ?? ""]?.approvalOptions?.atGateOnly === true ? "always" : true
    return mcpFetchHandler(mcpServer(host, { version, asksElsewhere, describe: describeQuestion }))
  }

  return {
    all: () => open,
    named,
    mcp: (name, dialect) => {
      const key = `${name ?? ""}/${dialect ?? ""}`
      const mounted = mounts.get(key) ?? mount(name, dialect === undefined ? undefined : dialectNamed(dialect))
      mounts.set(key, mounted)
      mounted.catch(() => mounts.delete(key))
      return mounted
    },
    dispose
  }
}

/** Fails with 400 on a name that is none of the dialects'. */
export const dialectNamed = (name: string): DialectName => {
  const found = dialectNames.find((known) => known === name)
  if (found === undefined) {
    throw new Problem(400, "unknown_dialect", `There is no dialect '${name}'. There are: ${dialectNames.join(", ")}.`)
  }
  return found
}
