import {
  Host,
  type JournalEvent,
  memoryArtifacts,
  memoryJournal,
  type Processes,
  type Sandbox,
  use,
  type Workspace
} from "@haft/core"
import { openHost } from "@haft/core/promise"
import { haft } from "@haft/dialects"
import { nodeProcesses, nodeWorkspace, noSandbox } from "@haft/node"
import { scriptedApprover, temporaryWorkspace } from "@haft/testing"
import * as Layer from "effect/Layer"

import { execTools } from "../src/index.ts"

/** A host with the tools of this package in a workspace of its own. */
export const openExecHost = async ({
  sandbox = noSandbox(),
  config = {}
}: {
  readonly sandbox?: Layer.Layer<Sandbox, never, Workspace | Processes>
  readonly config?: object
} = {}) => {
  const workspace = temporaryWorkspace()
  const events: Array<JournalEvent> = []
  const approver = scriptedApprover()
  const services = Layer.mergeAll(
    memoryJournal(events),
    memoryArtifacts(),
    approver.layer,
    sandbox.pipe(
      Layer.provideMerge(Layer.merge(nodeProcesses, nodeWorkspace({ root: workspace.root, state: workspace.state })))
    )
  )
  const host = await openHost(
    Host.layer({ dialect: haft, plugins: [use(execTools, config)] }).pipe(Layer.provide(services))
  )
  return {
    host,
    workspace,
    events,
    questions: approver.questions,
    close: async () => {
      await host.dispose()
      workspace.remove()
    }
  }
}
