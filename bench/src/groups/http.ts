import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import type { Contender, Group } from "../benchmark.ts"
import { type Connections, openConnections } from "../http/connections.ts"

const connections = 64
const requests = 640
const content = "hello\n".repeat(20)

/**
 * A small read over HTTP, by every server in a process of its own. The floor is node:http with an answer from memory:
 * it parses the body and says the same, and does none of what a call is.
 */
export const benchmarks: Group = async function* () {
  const directory = mkdtempSync(join(tmpdir(), "haft-http-"))
  const [root, state] = [join(directory, "root"), join(directory, "state")]
  mkdirSync(root)
  writeFileSync(join(root, "a.txt"), content)
  const bare = await startServer("bare", root, state)
  const reading = await startServer("reading", root, state)
  const haft = await startServer("haft", root, state)
  yield {
    group: "http",
    name: `${requests} small reads over ${connections} connections`,
    floor: "node:http",
    // Half of the floor's throughput.
    goal: { contender: "haft, calls", atMost: 2 },
    contenders: [
      contender("node:http", "limit", bare.open),
      contender("node:http that reads the file", "limit", reading.open),
      contender("haft, calls", "haft", haft.open)
    ],
    close: () => {
      for (const server of [bare, reading, haft]) server.stop()
      rmSync(directory, { recursive: true, force: true })
    }
  }
}

const contender = (name: string, kind: Contender["kind"], { send }: Connections): Contender => ({
  name,
  kind,
  run: () => send(requests),
  check: (answer) => {
    const { status, body } = answer as { readonly status: string; readonly body: string }
    const { result } = JSON.parse(body) as { readonly result?: { readonly content?: string } }
    if (!status.includes(" 200") || result?.content !== content) throw new Error(`wrong answer: ${status} ${body}`)
  }
})

const startServer = async (kind: string, root: string, state: string) => {
  const program = join(import.meta.dirname, "../http/serve.ts")
  const child = spawn(process.execPath, [...process.execArgv, program, kind, root, state], {
    stdio: ["pipe", "pipe", "inherit"]
  })
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString().trim()))
    child.once("exit", (code) => reject(new Error(`the ${kind} server ended with ${code} before it listened`)))
  })
  const [url = "", token = ""] = line.split(" ")
  const open = await openConnections(url, callRequest(url, token), connections)
  return {
    open,
    stop: () => {
      open.close()
      child.stdin.end()
    }
  }
}

const callRequest = (url: string, token: string): Uint8Array => {
  const body = JSON.stringify({ tool: "read_file", params: { path: "a.txt" } })
  const head = [
    "POST /v1/workspaces/default/calls HTTP/1.1",
    `Host: ${new URL(url).host}`,
    `Authorization: Bearer ${token}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`
  ]
  return Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`)
}
