import { CurrentCall } from "@haft/core"
import {
  nodeWorkspace,
  type QuarantinedFile,
  quarantinedFiles,
  removeQuarantined,
  restoreQuarantined
} from "@haft/node"
import * as Effect from "effect/Effect"

import { ConfigError, type HaftConfig } from "../config/config.ts"
import { rootOf } from "../host/standard-host.ts"
import { existingState } from "./state.ts"

/** Control files that were moved out of a workspace. */
export interface OpenQuarantine {
  readonly list: () => ReadonlyArray<QuarantinedFile>
  /** Puts one back where it was, by its id or its path; of several with one path the newest. */
  readonly restore: (name: string) => Promise<QuarantinedFile>
  /** Deletes one for good. */
  readonly remove: (name: string) => QuarantinedFile
}

export const openQuarantine = (config: HaftConfig = {}): OpenQuarantine => {
  const state = existingState(config)
  const named = (name: string): QuarantinedFile => {
    const all = quarantinedFiles(state)
    const found = all.find(({ id }) => id === name) ?? all.findLast(({ path }) => path === name)
    if (found === undefined) throw new ConfigError(`there is no '${name}' in the quarantine of this workspace`)
    return found
  }
  return {
    list: () => quarantinedFiles(state),
    restore: async (name) => {
      const file = named(name)
      const workspace = nodeWorkspace({ root: rootOf(config), state })
      const call = { id: `restore-${file.id}`, step: 0, tool: "restore", dialect: "haft", startedAt: Date.now() }
      await Effect.runPromise(
        restoreQuarantined(file).pipe(
          Effect.provide(workspace),
          Effect.provideService(CurrentCall, { ...call, symlinks: "inside" })
        )
      )
      return file
    },
    remove: (name) => {
      const file = named(name)
      removeQuarantined(file)
      return file
    }
  }
}
