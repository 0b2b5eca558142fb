import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import type { Group } from "../benchmark.ts"
import { openConnections } from "../http/connections.ts"
import { type ServerApart, startApart } from "../http/start-apart.ts"

const content = "hello\n".repeat(20)

/**
 * A read of a small file over HTTP; all servers run in other processes. The floor is node:http with an answer from
 * memory: it parses the body and sends the same answer, but makes no call.
 */
export const benchmarks: Group = async function* () {
  for (const inFlight of [1, 64]) {
    const directory = mkdtempSync(join(tmpdir(), "haft-http-"))
    const [root, state] = [join(directory, "root"), join(directory, "state")]
    mkdirSync(root)
    writeFileSync(join(root, "a.txt"), content)
    const start = (kind: string) => startServer(kind, { root, state, inFlight })
    const [bare, reading, guarded, haft] = await Promise.all([
      start("bare"),
      start("reading"),
      start("guarded"),
      start("haft")
    ])
    yield {
      group: "http",
      name: "a small read",
      size: { value: inFlight, label: `${inFlight} in flight` },
      inFlight,
      isServer: true,
      floor: "node:http",
      ifMissed:
        "The line 'on record and contained' is the least that keeps haft's promises about a read. The rest is decode, assess, approve, what is secret taken out, and the dialect: docs/decisions has what each takes, and that together they take twice the sum.",
      contenders: [
        { name: "node:http", kind: "limit", run: bare.send, check },
        { name: "node:http that reads the file", kind: "limit", run: reading.send, check },
        { name: "node:http, on record and contained", kind: "limit", run: guarded.send, check },
        // The goal: half of the floor's throughput.
        { name: "haft", kind: "haft", ...(inFlight > 1 && { atMost: 2 }), run: haft.send, check }
      ],
      close: () => {
        for (const server of [bare, reading, guarded, haft]) server.stop()
        rmSync(directory, { recursive: true, force: true })
      }
    }
  }
}

const check = (answer: unknown): void => {
  const [head = "", body = ""] = String(answer).split("\r\n\r\n")
  const { result } = JSON.parse(body) as { readonly result?: { readonly content?: string } }
  if (!head.includes(" 200") || result?.content !== content) throw new Error(`wrong answer: ${head} ${body}`)
}

const startServer = async (
  kind: string,
  { root, state, inFlight }: { readonly root: string; readonly state: string; readonly inFlight: number }
) => {
  const server = await startApart(kind, root, state)
  const { send, close } = await openConnections(server.url, callRequest(server), inFlight)
  return {
    send,
    stop: () => {
      close()
      server.stop()
    }
  }
}

const callRequest = ({ url, token }: ServerApart): Uint8Array => {
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
