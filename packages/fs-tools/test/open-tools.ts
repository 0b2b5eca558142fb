import { type Dialect, Host, type JournalEvent, memoryArtifacts, memoryJournal, use } from "@haft/core"
import { openHost, type OpenHost } from "@haft/core/promise"
import { haft } from "@haft/dialects"
import { nodeWorkspace } from "@haft/node"
import {
  type Fixture,
  type ScriptedApprover,
  scriptedApprover,
  temporaryWorkspace,
  type TemporaryWorkspace
} from "@haft/testing"
import * as Layer from "effect/Layer"

import { fsTools } from "../src/index.ts"

export interface OpenTools extends AsyncDisposable {
  readonly workspace: TemporaryWorkspace
  readonly host: OpenHost
  readonly approver: ScriptedApprover
  readonly events: ReadonlyArray<JournalEvent>
  readonly artifacts: ReadonlyMap<string, Uint8Array>
  /** The wire reply of one call. */
  readonly call: (tool: string, params: unknown) => Promise<unknown>
}

/** A host with the tools of one dialect, on a temporary workspace. */
export const openTools = async (
  files: Readonly<Record<string, Fixture>> = {},
  options: {
    readonly dialect?: Dialect
    readonly approver?: ScriptedApprover
    /** An existing workspace, for a second host on it. */
    readonly workspace?: TemporaryWorkspace
    /** The budget of a reply; the host's own when absent. */
    readonly replyBytes?: number
    /** The plugin's configuration. */
    readonly config?: Parameters<typeof fsTools.configure>[0]
  } = {}
): Promise<OpenTools> => {
  const workspace = options.workspace ?? temporaryWorkspace(files)
  const approver = options.approver ?? scriptedApprover()
  const events: Array<JournalEvent> = []
  const artifacts = new Map<string, Uint8Array>()
  const services = Layer.mergeAll(
    nodeWorkspace({ root: workspace.root, state: workspace.state, durable: false }),
    memoryJournal(events),
    memoryArtifacts(artifacts),
    approver.layer
  )
  const host = await openHost(
    Host.layer({
      dialect: options.dialect ?? haft,
      plugins: [use(fsTools, options.config)],
      ...(options.replyBytes !== undefined && { replyBytes: options.replyBytes })
    }).pipe(Layer.provide(services))
  )
  return {
    workspace,
    host,
    approver,
    events,
    artifacts,
    call: async (tool, params) => (await host.call(tool, params)).wire,
    [Symbol.asyncDispose]: async () => {
      await host.dispose()
      workspace.remove()
    }
  }
}
