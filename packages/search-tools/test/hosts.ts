import {
  type Dialect,
  Embedder,
  type EmbedderService,
  Host,
  type JournalEvent,
  memoryJournal,
  type NetworkConfig,
  networkPolicy,
  type Processes,
  type Reply,
  use,
  Workspace,
  type WorkspaceService
} from "@haft/core"
import { nodeWorkspace, sqliteCodeIndex } from "@haft/node"
import { type Fixture, scriptedApprover, temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as z from "zod"

import { searchTools } from "../src/index.ts"
import type { searchConfig } from "../src/search-config.ts"
import { plainProcesses } from "./processes.ts"

export interface HostOptions {
  readonly processes?: Layer.Layer<Processes>
  readonly ripgrep?: string
  /** Settings of search besides. */
  readonly settings?: z.input<typeof searchConfig>
  readonly embedder?: EmbedderService
  readonly network?: NetworkConfig
  /** Collects the events that are put on record. */
  readonly events?: Array<JournalEvent>
  /** Replaces some functions of the workspace. */
  readonly disturb?: (real: WorkspaceService) => Partial<WorkspaceService>
}

export const hostOf = (
  dialect: Dialect,
  workspace: TemporaryWorkspace,
  { processes = plainProcesses, ripgrep, settings, embedder, network, events, disturb = () => ({}) }: HostOptions = {}
): Layer.Layer<Host, unknown> => {
  const given = { ...settings, ...(ripgrep !== undefined && { ripgrep }) }
  const decisions = Layer.merge(memoryJournal(events), scriptedApprover().layer)
  return Host.layer({ dialect, plugins: [use(searchTools, Object.keys(given).length === 0 ? undefined : given)] }).pipe(
    Layer.provide(
      Layer.mergeAll(
        embedder === undefined ? Layer.empty : Layer.succeed(Embedder, embedder),
        network === undefined ? Layer.empty : networkPolicy(network).pipe(Layer.provide(decisions)),
        decisions,
        sqliteCodeIndex({ directory: workspace.state }).pipe(
          Layer.provideMerge(
            Layer.effect(
              Workspace,
              Workspace.useSync((real) => ({ ...real, ...disturb(real) }))
            ).pipe(Layer.provide(nodeWorkspace({ root: workspace.root, state: workspace.state })))
          )
        ),
        processes
      )
    )
  )
}

/** Makes a workspace, calls one tool in it, and cleans up. */
export const callIn = async (
  dialect: Dialect,
  files: Readonly<Record<string, Fixture>>,
  tool: string,
  params: unknown,
  { prepare, ...options }: HostOptions & { readonly prepare?: (workspace: TemporaryWorkspace) => void } = {}
): Promise<Reply> => {
  using workspace = temporaryWorkspace(files)
  prepare?.(workspace)
  return await Effect.runPromise(
    Effect.scoped(
      Host.use(({ call }) => call(tool, params, { requestId: "case" })).pipe(
        Effect.provide(hostOf(dialect, workspace, options))
      )
    )
  )
}
