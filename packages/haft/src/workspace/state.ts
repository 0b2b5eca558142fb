import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"

import {
  type PrunedRuns,
  pruneState,
  removeState,
  stateHome,
  stateUsage as usageOf,
  type StateUsage,
  workspaceDirectory,
  defaultStateDirectory
} from "@haft/node"

import { ConfigError, type HaftConfig } from "../config/config.ts"
import { rootOf } from "../host/standard-host.ts"

/** How much the state of a workspace holds. */
export const stateUsage = (config: HaftConfig = {}): StateUsage => usageOf(existingState(config))

/** How much the state of every workspace holds that has no directory of its own choice. */
export const allStateUsage = (): ReadonlyArray<StateUsage> => {
  const home = stateHome()
  if (!existsSync(home)) return []
  return readdirSync(home, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => usageOf(join(home, entry.name)))
}

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
const existingState = (config: HaftConfig): string => {
  const directory = config.state ?? defaultStateDirectory(workspaceDirectory(rootOf(config)))
  if (existsSync(directory)) return directory
  throw new ConfigError(`haft keeps no state for this workspace: there is no ${directory}`)
}
