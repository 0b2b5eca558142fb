import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import type { Group } from "../benchmark.ts"
import { expectText } from "../expect.ts"
import { haftCli } from "../haft-cli.ts"
import { post, startHttpServer } from "../http/client.ts"

const token = "a-token-for-the-benchmark-alone"

/** A small read over HTTP, as a call and as MCP. The floor is `node:http` that reads the file and asks nothing. */
export const benchmarks: Group = async function* ({ quick }) {
  const directory = mkdtempSync(join(tmpdir(), "haft-bench-http-"))
  const [root, state] = [join(directory, "root"), join(directory, "state")]
  const file = join(directory, "root/a.txt")
  mkdirSync(root)
  writeFileSync(file, `hello\n${"a line of text\n".repeat(60)}`)
  const bare = await startHttpServer([join(import.meta.dirname, "../http/bare-server.ts")])
  const flags = ["--port", "0", "--token", token, "--json", "--workspace", root, "--state", state]
  const haft = await startHttpServer([haftCli, "serve", ...flags])
  const authorization = { authorization: `Bearer ${token}` }
  const overMcp = await openSession(`${haft.url}/mcp`, authorization)
  const floor = "node:http"
  const check = expectText("hello")
  for (const inFlight of quick ? [16] : [1, 16, 64]) {
    yield {
      group: "http",
      name: "read of 1 KB",
      size: { value: inFlight, label: `${inFlight} connections` },
      inFlight,
      floor,
      contenders: [
        { name: floor, kind: "limit", run: async () => (await post(bare.url, { params: { path: file } })).text, check },
        {
          name: "haft, POST calls",
          kind: "haft",
          ...(inFlight === 64 && { atMost: 2 }),
          run: async () => {
            const body = { tool: "read_file", params: { path: "a.txt" } }
            return (await post(`${haft.url}/v1/workspaces/default/calls`, body, authorization)).text
          },
          check
        },
        {
          name: "haft, MCP with a session",
          kind: "haft",
          ...(inFlight === 64 && { atMost: 5 }),
          run: () => overMcp("tools/call", { name: "read_file", arguments: { path: "a.txt" } }),
          check
        }
      ]
    }
  }
  for (const { server } of [bare, haft]) server.kill()
  rmSync(directory, { recursive: true, force: true })
}

/** Shakes hands over HTTP; the requests that follow belong to the session. */
const openSession = async (url: string, authorization: Readonly<Record<string, string>>) => {
  const headers = { ...authorization, accept: "application/json, text/event-stream" }
  const clientInfo = { name: "bench", version: "1.0.0" }
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo }
  const opened = await post(url, { jsonrpc: "2.0", id: 0, method: "initialize", params }, headers)
  const session = opened.headers["mcp-session-id"]
  const inSession = {
    ...headers,
    "mcp-protocol-version": "2025-06-18",
    ...(typeof session === "string" && { "mcp-session-id": session })
  }
  await post(url, { jsonrpc: "2.0", method: "notifications/initialized" }, inSession)
  let id = 0
  return async (method: string, params: unknown): Promise<string> =>
    (await post(url, { jsonrpc: "2.0", id: ++id, method, params }, inSession)).text
}
