// Runs a command with very much output, and prints how much memory that took in this process.
import { Host, memoryJournal, use } from "@haft/core"
import { openHost } from "@haft/core/promise"
import { haft } from "@haft/dialects"
import { autoSandbox, fileArtifacts, nodeProcesses, nodeWorkspace } from "@haft/node"
import { scriptedApprover, temporaryWorkspace } from "@haft/testing"
import * as Layer from "effect/Layer"

import { execTools } from "../src/index.ts"

const bytes = Number(process.argv[2])
const workspace = temporaryWorkspace()
const machine = Layer.merge(nodeProcesses, nodeWorkspace({ root: workspace.root, state: workspace.state }))
const services = Layer.mergeAll(
  fileArtifacts({ directory: workspace.state }).pipe(Layer.provideMerge(memoryJournal())),
  scriptedApprover().layer,
  autoSandbox().pipe(Layer.provideMerge(machine))
)
const { call, dispose } = await openHost(
  Host.layer({ dialect: haft, plugins: [use(execTools)] }).pipe(Layer.provide(services))
)
const flood = async (count: number): Promise<unknown> => {
  const { wire } = await call("run_command", { command: `head -c ${count} /dev/zero` })
  return (wire as { readonly result: { readonly stdout_bytes: number } }).result.stdout_bytes
}

await flood(1_000_000)
globalThis.gc?.()
const before = process.memoryUsage().rss
let peak = before
const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5)
const printed = await flood(bytes)
clearInterval(timer)
process.stdout.write(`${JSON.stringify({ printed, growth: peak - before })}\n`)
await dispose()
workspace.remove()
