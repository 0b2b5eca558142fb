import { mkdtemp, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { askCallback, policyApprover, stateRules } from "@haft/approval"
import { Host, use } from "@haft/core"
import { openHost } from "@haft/core/promise"
import { agentbench } from "@haft/dialects"
import { execTools } from "@haft/exec-tools"
import { fsTools } from "@haft/fs-tools"
import { autoSandbox, fileArtifacts, fileJournal, fileState, nodeProcesses, nodeWorkspace } from "@haft/node"
import * as Layer from "effect/Layer"

const root = await mkdtemp(join(tmpdir(), "haft-example-"))
const directory = await mkdtemp(join(tmpdir(), "haft-state-"))
await writeFile(join(root, "a.txt"), "one\ntwo\n")

const records = fileArtifacts({ directory }).pipe(Layer.provideMerge(fileJournal({ directory })))
const files = Layer.mergeAll(nodeWorkspace({ root, state: directory }), records, fileState({ directory }))
const approver = policyApprover({ mode: "ask" }).pipe(
  Layer.provide(
    Layer.merge(
      stateRules,
      askCallback(() => ({ approved: false }))
    )
  )
)
const services = autoSandbox().pipe(Layer.provideMerge(Layer.merge(approver, nodeProcesses)), Layer.provideMerge(files))

await using host = await openHost(
  Host.layer({ dialect: agentbench, plugins: [use(fsTools), use(execTools)] }).pipe(Layer.provide(services))
)
const reply = await host.call("read_file", { path: "a.txt", start_line: 2 }, { requestId: "step-1" })
console.log(reply.wire)

if (!reply.ok) process.exitCode = 1
