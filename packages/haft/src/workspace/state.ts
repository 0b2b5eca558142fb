import {
  branchState,
  hasState,
  type PrunedRuns,
  pruneState,
  removeState,
  stateUsage as usageOf,
  type StateUsage,
  workspaceDirectory,
  defaultStateDirectory
} from "@haft/node/internal"

import { ConfigError, type HaftConfig } from "../config/config.ts"
import { rootOf } from "../host/standard-host.ts"

/** How much the state of a workspace holds. */
export const stateUsage = (config: HaftConfig = {}): StateUsage => usageOf(existingState(config))

/** Removes records and artifacts of runs that began before a time. */
export const pruneRuns = (
  config: HaftConfig,
  options: { readonly before: Date; readonly isDry?: boolean }
): PrunedRuns => pruneState(existingState(config), options)

/** Removes everything that haft keeps for a workspace, and returns where it was. */
export const removeWorkspaceState = (config: HaftConfig): string => {
  const directory = existingState(config)
  removeState(directory)
  return directory
}

// Looking at a state directory must not make one, as opening a host does.
export const existingState = (config: HaftConfig): string => {
  const root = workspaceDirectory(rootOf(config))
  const directory = branchState(root) ?? config.state ?? defaultStateDirectory(root)
  if (hasState(directory)) return directory
  throw new ConfigError(`haft keeps no state for this workspace: there is no ${directory}`)
}
