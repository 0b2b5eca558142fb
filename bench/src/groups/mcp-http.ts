import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import type { Group } from "../benchmark.ts"
import { expectText } from "../expect.ts"
import { type ServerApart, startApart } from "../http/start-apart.ts"

/** A call of MCP over HTTP. The floor is a server that sends the same answer from memory to every request. */
export const benchmarks: Group = async function* () {
  const directory = mkdtempSync(join(tmpdir(), "haft-mcp-http-"))
  const [root, state] = [join(directory, "root"), join(directory, "state")]
  mkdirSync(root)
  writeFileSync(join(root, "a.txt"), "hello\n".repeat(20))
  const [bare, haft] = await Promise.all([startApart("mcp", root, state), startApart("haft", root, state)])
  const contenders = [
    { name: "node:http", kind: "limit", run: await openSession(bare), check: expectText("hello") },
    { name: "haft", kind: "haft", run: await openSession(haft), check: expectText("hello") }
  ] as const
  for (const inFlight of [1, 16, 64]) {
    yield {
      group: "mcp-http",
      name: "a small read",
      size: { value: inFlight, label: `${inFlight} in flight` },
      inFlight,
      isServer: true,
      floor: "node:http",
      contenders
    }
  }
  for (const server of [bare, haft]) server.stop()
  rmSync(directory, { recursive: true, force: true })
}

/** Opens a session of the 2025 protocol. The returned function reads the file once. */
const openSession = async ({ url, token }: ServerApart): Promise<() => Promise<string>> => {
  const headers: Record<string, string> = {
    authorization: `Bearer ${token}`,
    accept: "application/json, text/event-stream",
    "content-type": "application/json"
  }
  const send = (message: object) => fetch(`${url}/mcp`, { method: "POST", headers, body: JSON.stringify(message) })
  const opened = await send({
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "0" } }
  })
  await opened.text()
  const session = opened.headers.get("mcp-session-id")
  if (session !== null) headers["mcp-session-id"] = session
  headers["mcp-protocol-version"] = "2025-11-25"
  await (await send({ jsonrpc: "2.0", method: "notifications/initialized" })).text()
  let id = 0
  return async () => {
    const params = { name: "read_file", arguments: { path: "a.txt" } }
    return (await send({ jsonrpc: "2.0", id: ++id, method: "tools/call", params })).text()
  }
}
