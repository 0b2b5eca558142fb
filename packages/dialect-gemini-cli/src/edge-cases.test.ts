import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

import { expect, it, onTestFinished } from "@effect/vitest"
import { definePlugin, Host, memoryArtifacts, memoryJournal, memoryState, use } from "@haft/core"
import { openHost } from "@haft/core/promise"
import { execServices } from "@haft/exec-tools/operations"
import { nodeProcesses, nodeWorkspace, noSandbox } from "@haft/node"
import { searchServices } from "@haft/search-tools/operations"
import { type Fixture, scriptedApprover, temporaryWorkspace } from "@haft/testing"
import { webServices } from "@haft/web-tools/operations"
import * as Layer from "effect/Layer"

import { geminiCli, geminiCliTools } from "./index.ts"

const page = `<html><body><main><h1>Title</h1><p>${"word ".repeat(60_000)}</p></main></body></html>`
const open = async (fixtures: Readonly<Record<string, Fixture>> = {}) => {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html")
    response.end(page)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  const workspace = temporaryWorkspace(fixtures)
  const { root, state } = workspace
  const services = Layer.mergeAll(
    nodeWorkspace({ root, state, durable: false }),
    memoryJournal(),
    memoryArtifacts(),
    memoryState(),
    scriptedApprover(() => ({ approved: true })).layer,
    nodeProcesses,
    noSandbox()
  )
  const plugin = definePlugin({
    name: "test",
    version: "1.0.0",
    tools: geminiCliTools.tools,
    layer: () =>
      Layer.mergeAll(
        execServices(),
        searchServices(),
        webServices({ privateHosts: [`127.0.0.1:${port}`], cache: false })
      )
  })
  const host = await openHost(
    Host.layer({ dialect: geminiCli, plugins: [use(plugin)] }).pipe(Layer.provide(services)) as Layer.Layer<Host>
  )
  onTestFinished(async () => {
    await host.dispose()
    server.closeAllConnections()
    server.close()
    workspace.remove()
  })
  return { host, workspace, origin: `http://127.0.0.1:${port}` }
}

it("a command in the background is listed and read until it has ended", async () => {
  const { host } = await open()
  const started = await host.call("run_shell_command", {
    command: "echo first; sleep 1; echo last",
    is_background: true,
    delay_ms: 500
  })
  expect(started.text).toContain("Initial Output: first")
  const pid = Number(/PID: (\d+)/.exec(started.text)?.[1])
  expect((await host.call("list_background_processes", {})).text).toBe(
    `- [PID ${pid}] RUNNING: \`echo first; sleep 1; echo last\``
  )
  const lines = async () => (await host.call("read_background_output", { pid, lines: 1, delay_ms: 10 })).text
  await expect.poll(lines).toBe("<untrusted_context>\nlast\n</untrusted_context>")
  await expect
    .poll(async () => (await host.call("list_background_processes", {})).text)
    .toContain("EXITED (Exit Code: 0)")
})

it("a silent command in the background has an empty log", async () => {
  const { host } = await open()
  const started = await host.call("run_shell_command", { command: "sleep 60", is_background: true, delay_ms: 0 })
  const pid = Number(/PID: (\d+)/.exec(started.text)?.[1])
  expect((await host.call("read_background_output", { pid })).text).toBe("Log is empty.")
})

it("web_fetch returns the page that the prompt names", async () => {
  const { host, origin } = await open()
  const reply = await host.call("web_fetch", { prompt: `summarize (${origin}/).` })
  expect(reply.text).toContain("word word")
  expect(reply.text).toContain("characters left out]")
})

it("grep_search limits matches and names the filter", async () => {
  const { host } = await open({ "a.txt": "x\nx\nx\n", "b.md": "x\n" })
  const reply = await host.call("grep_search", {
    pattern: "x",
    include_pattern: "*.txt",
    total_max_matches: 2,
    dir_path: "."
  })
  expect(reply.text).toContain(
    'Found 2 matches for pattern "x" in path "." (filter: "*.txt") (results limited to 2 matches for performance):'
  )
})

it("read_file cuts long lines, and shows an empty file as nothing", async () => {
  const { host } = await open({ "long.txt": "x".repeat(3_000), "empty.txt": "" })
  expect((await host.call("read_file", { file_path: "long.txt" })).text).toBe(`${"x".repeat(2_000)}... [truncated]`)
  expect((await host.call("read_file", { file_path: "empty.txt" })).text).toBe("")
})
