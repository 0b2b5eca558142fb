import { join } from "node:path"

import { temporaryWorkspace } from "@haft/testing"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { dialectNames, exportTools } from "haft/internal"
import { openHost } from "haft/promise"
import { expect, it } from "vitest"

import { bin, haft, placeOf } from "./haft.ts"

it.each([
  { era: "2025-11-25", mode: "legacy" as const },
  { era: "2026-07-28", mode: { pin: "2026-07-28" } }
])("serves the official client over stdio with protocol $era, and ends with it", async ({ era, mode }) => {
  using workspace = temporaryWorkspace({ "a.txt": "one\n" })
  const args = [bin, "mcp", ...placeOf(workspace), "--dialect", "filetools"]
  const transport = new StdioClientTransport({ command: process.execPath, args, stderr: "pipe" })
  const client = new Client({ name: "test", version: "0" }, { versionNegotiation: { mode } })
  await client.connect(transport)
  const { pid } = transport
  expect(client.getNegotiatedProtocolVersion()).toBe(era)
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("file_read")
  expect(await client.callTool({ name: "file_read", arguments: { path: "a.txt" } })).toMatchObject({
    isError: false,
    structuredContent: { content: "     1\tone\n" }
  })
  expect(await client.callTool({ name: "file_read", arguments: {} })).toMatchObject({
    isError: true,
    structuredContent: { error: "invalid_params" }
  })
  await client.close()
  await expect.poll(() => isRunning(pid)).toBe(false)
})

it("answers with the text of the built-in tools alone where it is told so", async () => {
  using workspace = temporaryWorkspace({ "a.txt": "one\n" })
  const args = [bin, "mcp", ...placeOf(workspace), "--dialect", "claude-code", "--text-only"]
  const client = new Client({ name: "test", version: "0" })
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: "pipe" }))
  const { tools } = await client.listTools()
  expect(tools.find(({ name }) => name === "Read")).not.toHaveProperty("outputSchema")
  const result = await client.callTool({ name: "Read", arguments: { file_path: "a.txt" } })
  expect(result).toMatchObject({ isError: false, content: [{ type: "text", text: expect.stringContaining("1\tone") }] })
  expect(result).not.toHaveProperty("structuredContent")
  const failure = await client.callTool({ name: "Read", arguments: { file_path: "none.txt" } })
  expect(failure).toMatchObject({ isError: true })
  expect(failure).not.toHaveProperty("structuredContent")
  await client.close()
})

it("takes the place of the reference filesystem server, with directories as its arguments", async () => {
  using workspace = temporaryWorkspace({ "a.txt": "one\n" })
  const args = [
    bin,
    "mcp",
    "--dialect",
    "mcp-filesystem",
    "--state",
    workspace.state,
    workspace.root,
    workspace.outside
  ]
  const transport = new StdioClientTransport({ command: process.execPath, args, stderr: "pipe" })
  const client = new Client({ name: "test", version: "0" })
  await client.connect(transport)
  expect((await client.listTools()).tools).toHaveLength(14)
  const { content } = await client.callTool({ name: "list_allowed_directories", arguments: {} })
  expect(content).toEqual([{ type: "text", text: `Allowed directories:\n${workspace.root}\n${workspace.outside}` }])
  const path = `${workspace.outside}/b.txt`
  expect(await client.callTool({ name: "write_file", arguments: { path, content: "two\n" } })).toMatchObject({
    content: [{ type: "text", text: `Successfully wrote to ${path}` }],
    isError: false
  })
  expect(workspace.read("../outside/b.txt")).toBe("two\n")
  await client.close()
})

it.each([
  { era: "2025-11-25", mode: "legacy" as const },
  { era: "2026-07-28", mode: { pin: "2026-07-28" } }
])("shows the rules before an answer stores one, with protocol $era", async ({ mode }) => {
  using workspace = temporaryWorkspace()
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bin, "mcp", ...placeOf(workspace)],
    stderr: "pipe"
  })
  const capabilities = { elicitation: { form: {} } }
  const client = new Client({ name: "test", version: "0" }, { versionNegotiation: { mode }, capabilities })
  const asked: Array<{ message: string; fields: ReadonlyArray<string> }> = []
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    const fields = "requestedSchema" in params ? Object.keys(params.requestedSchema.properties) : []
    asked.push({ message: params.message, fields })
    return { action: "accept", content: { approve: true, remember: "exact", scope: "workspace", comment: "go on" } }
  })
  await client.connect(transport)
  const call = { name: "delete_path", arguments: { path: "a.txt" } }
  for (const content of ["one", "two"]) {
    workspace.put("a.txt", content)
    expect(await client.callTool(call)).toMatchObject({ isError: false })
  }
  await client.callTool({ name: "run_command", arguments: { command: "sh -c true" } })
  await client.close()
  expect(asked).toEqual([
    {
      message: expect.stringContaining('"path":"a.txt"'),
      fields: ["approve", "remember", "scope", "expires", "comment"]
    },
    { message: expect.stringContaining("sh -c true"), fields: ["approve", "comment"] }
  ])
  const stored = JSON.parse((await haft(["rules", "list", "--json", ...placeOf(workspace)])).stdout) as Array<{
    id: string
  }>
  expect(stored).toMatchObject([{ tool: "delete_path", decision: "allow", workspace: workspace.root }])
  expect(asked[0]?.message).toContain(stored[0]?.id)
})

it.each(dialectNames)("lists, before it has loaded them, the tools that a host of %s has", async (dialect) => {
  using workspace = temporaryWorkspace()
  const { root, state } = workspace
  await using host = await openHost({ root, state, dialect })
  const { stdout } = await haft(["mcp", "-w", root, "--state", state, "--dialect", dialect], { stdin: lines(listing) })
  expect(answersIn(stdout)).toMatchObject([{ id: 1 }, { id: 2, result: { tools: exportTools(host.tools, "mcp") } }])
})

it("lists what a configuration leaves", async () => {
  using workspace = temporaryWorkspace({ "../haft.json": JSON.stringify({ packages: ["search"] }) })
  const { root, state } = workspace
  const args = ["mcp", "-w", root, "--state", state, "--config", join(root, "../haft.json")]
  const { stdout } = await haft(args, { stdin: lines(listing) })
  const [, listed] = answersIn(stdout)
  expect(listed?.result?.tools?.map(({ name }) => name)).toEqual([
    "search_text",
    "find_files",
    "search_code",
    "outline",
    "find_symbol"
  ])
})

it("answers a client that calls without asking for the list", async () => {
  using workspace = temporaryWorkspace({ "a.txt": "one\n" })
  const calling = [...listing.slice(0, 2), { id: 3, method: "tools/call", params: readA }]
  const { stdout } = await haft(["mcp", ...placeOf(workspace)], { stdin: lines(calling) })
  expect(answersIn(stdout)).toMatchObject([{ id: 1 }, { id: 3, result: { isError: false } }])
})

it("says why its host can't be opened, and ends", async () => {
  using workspace = temporaryWorkspace({ "../file": "no directory" })
  const env = { XDG_STATE_HOME: join(workspace.root, "../file") }
  const stdin = lines([...listing, { id: 3, method: "tools/call", params: readA }])
  const { code, stdout, stderr } = await haft(["mcp", "-w", workspace.root], { stdin, env })
  expect(code).toBe(2)
  expect(stderr).toMatch(/^haft: the state directory .* can't be used/)
  expect(answersIn(stdout)).toMatchObject([{ id: 1 }, { id: 2 }, { id: 3, error: { code: -32603 } }])
})

it("answers a pipe that closes behind its last request, with nothing else on stdout", async () => {
  using workspace = temporaryWorkspace({ "a.txt": "one\n" })
  const stdin = lines([...listing, { id: 3, method: "tools/call", params: readA }])
  const { code, stdout, stderr } = await haft(["mcp", ...placeOf(workspace)], {
    stdin
  })
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  expect(new Set(answersIn(stdout).map(({ id }) => id))).toEqual(new Set([1, 2, 3]))
})

const readA = { name: "read_file", arguments: { path: "a.txt" } }
const clientInfo = { name: "pipe", version: "0" }
const listing = [
  { id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo } },
  { method: "notifications/initialized" },
  { id: 2, method: "tools/list", params: {} }
]

const lines = (messages: ReadonlyArray<object>): string =>
  messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join("")

interface Answer {
  readonly id: number
  readonly result?: { readonly tools?: ReadonlyArray<{ readonly name: string }> }
}

const answersIn = (stdout: string): ReadonlyArray<Answer> =>
  stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Answer)

const isRunning = (pid: number | null): boolean => {
  try {
    return process.kill(pid ?? 0, 0)
  } catch {
    return false
  }
}
