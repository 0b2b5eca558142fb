import {
  type Dialect,
  Host,
  memoryJournal,
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

import { searchTools } from "../src/index.ts"
import { plainProcesses } from "./processes.ts"

export interface HostOptions {
  readonly processes?: Layer.Layer<Processes>
  readonly ripgrep?: string
  /** Replaces some functions of the workspace. */
  readonly disturb?: (real: WorkspaceService) => Partial<WorkspaceService>
}

export const hostOf = (
  dialect: Dialect,
  workspace: TemporaryWorkspace,
  { processes = plainProcesses, ripgrep, disturb = () => ({}) }: HostOptions = {}
): Layer.Layer<Host, unknown> =>
  Host.layer({ dialect, plugins: [use(searchTools, ripgrep === undefined ? undefined : { ripgrep })] }).pipe(
    Layer.provide(
      Layer.mergeAll(
        sqliteCodeIndex({ directory: workspace.state }).pipe(
          Layer.provideMerge(
            Layer.effect(
              Workspace,
              Workspace.useSync((real) => ({ ...real, ...disturb(real) }))
            ).pipe(Layer.provide(nodeWorkspace({ root: workspace.root, state: workspace.state })))
          )
        ),
        memoryJournal(),
        scriptedApprover().layer,
        processes
      )
    )
  )

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
