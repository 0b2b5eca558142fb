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

import { claudeCode, claudeCodeTools } from "./index.ts"

const page = `<html><body><main><h1>Title</h1><p>${"word ".repeat(60_000)}</p></main></body></html>`
const results = [
  { title: "A", url: "https://a.example/1", content: "first" },
  { title: "B", url: "https://docs.b.example/2", content: "second" }
]

const open = async (fixtures: Readonly<Record<string, Fixture>> = {}) => {
  const server = createServer((request, response) => {
    const isSearch = request.url?.startsWith("/search") === true
    response.setHeader("content-type", isSearch ? "application/json" : "text/html")
    response.end(isSearch ? JSON.stringify({ results }) : page)
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
  const search = { provider: "searxng", endpoint: `http://127.0.0.1:${port}` } as const
  const plugin = definePlugin({
    name: "test",
    version: "1.0.0",
    tools: claudeCodeTools.tools,
    layer: () =>
      Layer.mergeAll(
        execServices(),
        searchServices(),
        webServices({ privateHosts: [`127.0.0.1:${port}`], search, cache: false })
      )
  })
  const host = await openHost(
    Host.layer({ dialect: claudeCode, plugins: [use(plugin)] }).pipe(Layer.provide(services)) as Layer.Layer<Host>
  )
  onTestFinished(async () => {
    await host.dispose()
    server.closeAllConnections()
    server.close()
    workspace.remove()
  })
  return { host, workspace, origin: `http://127.0.0.1:${port}` }
}

it("Read shows what a background command has printed", async () => {
  const { host } = await open()
  const started = await host.call("Bash", { command: "echo printed; sleep 60", run_in_background: true })
  const { backgroundTaskId } = started.wire as { readonly backgroundTaskId: string }
  const file_path = `/haft/tasks/${backgroundTaskId}.output`
  await expect.poll(async () => (await host.call("Read", { file_path })).text).toBe("1\tprinted\n2\t")
  expect(await host.call("TaskStop", { task_id: backgroundTaskId })).toMatchObject({ ok: true })
})

it("Monitor ends its command after the time-out", async () => {
  const { host } = await open()
  const { wire } = await host.call("Monitor", { description: "d", timeout_ms: 200, command: "sleep 60" })
  const { taskId } = wire as { readonly taskId: string }
  const stop = async () => (await host.call("TaskStop", { task_id: taskId })).text
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  await expect.poll(stop).toContain("is not running")
})

it("Bash cuts long output and names where all of it is", async () => {
  const { host } = await open()
  const { wire } = await host.call("Bash", { command: "seq 100000" })
  const { stdout, rawOutputPath } = wire as { readonly stdout: string; readonly rawOutputPath: string }
  expect(stdout.length).toBeLessThan(40_000)
  expect(rawOutputPath).toContain("stdout")
})

it("Read answers with at most 1 MiB of a file, and says where it goes on", async () => {
  const { host } = await open({ "a.txt": `${"x".repeat(1023)}\n`.repeat(2000) })
  const { text } = await host.call("Read", { file_path: "a.txt", allow_large: true })
  expect(text.split("\n").at(-1)).toBe("<system-reminder>The file goes on: read it from offset 1025.</system-reminder>")
  const rest = await host.call("Read", { file_path: "a.txt", offset: 1025, limit: 1 })
  expect(rest.text).toBe(`1025\t${"x".repeat(1023)}`)
})

it("Read shows long lines whole, CRLF without the carriage return, and the empty line after the last", async () => {
  const { host } = await open({ "a.txt": `${"x".repeat(3_000)}\r\nend\r\n` })
  const { text } = await host.call("Read", { file_path: "a.txt" })
  expect(text).toBe(`1\t${"x".repeat(3_000)}\n2\tend\n3\t`)
})

it("Glob shows the newest hundred first", async () => {
  const files = Object.fromEntries(Array.from({ length: 105 }, (_, index) => [`f${index}.txt`, "x"]))
  const { host, workspace } = await open(files)
  await new Promise((resolve) => setTimeout(resolve, 20))
  workspace.put("f50.txt", "newer")
  const { text } = await host.call("Glob", { pattern: "*.txt" })
  const lines = text.split("\n")
  expect(lines[0]).toBe(`${workspace.root}/f50.txt`)
  expect(lines.slice(100)).toEqual(["(Results are truncated. Consider using a more specific path or pattern.)"])
})

it("WebFetch returns a page in parts", async () => {
  const { host, origin } = await open()
  const first = await host.call("WebFetch", { url: `${origin}/`, prompt: "p" })
  expect(first.text).toContain("[Content truncated: continue with offset 100000 of")
  expect(first.wire).toMatchObject({ code: 200, codeText: "OK" })
  const second = await host.call("WebFetch", { url: `${origin}/`, prompt: "p", offset: 250_000 })
  expect(second.text).not.toContain("truncated")
  const beyond = await host.call("WebFetch", { url: `${origin}/`, prompt: "p", offset: 9_000_000 })
  expect(beyond.error?.code).toBe("invalid_range")
})

it("WebSearch keeps to the domains that a call names", async () => {
  const { host } = await open()
  const urls = async (args: object) => {
    const reply = await host.call("WebSearch", { query: "haft", ...args })
    return [...reply.text.matchAll(/https:[^"]*/g)].map(([url]) => url)
  }
  expect(await urls({})).toEqual(["https://a.example/1", "https://docs.b.example/2"])
  expect(await urls({ allowed_domains: ["b.example"] })).toEqual(["https://docs.b.example/2"])
  expect(await urls({ blocked_domains: ["*.b.example"] })).toEqual(["https://a.example/1"])
  expect(await urls({ allowed_domains: ["c.example"] })).toEqual([])
})
