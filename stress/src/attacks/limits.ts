import { once } from "node:events"
import { connect } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"

import { type Attack, atMost } from "../attack.ts"
import { type RunningServer, startServerApart } from "../running-server.ts"

/** Tries every limit once with what lies far beyond it, and measures memory, time and what others notice of it. */
export const attack: Attack = async function* () {
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`many/file-${n}.txt`, "x"]))
  const server = await startServerApart({ ...many, "line.txt": "x".repeat(14_000_000), "a.txt": "one\n" })
  await server.call("read_file", { path: "a.txt" })
  for (const [what, body] of Object.entries(bodies)) {
    const before = server.rssMegabytes()
    const begun = performance.now()
    const watched = slowestHealth(server)
    const status = await post(server, body())
    const slowest = await watched.end()
    if (status < 400 || status >= 500) throw new Error(`a body of ${what} was answered with ${status}`)
    yield atMost(`time to refuse 16 MB of ${what}`, "1 body", performance.now() - begun, 3_000, " ms")
    yield atMost(`memory for 16 MB of ${what}`, "1 body", server.rssMegabytes() - before, 128, " MB")
    yield atMost(`a health call during 16 MB of ${what}`, "1 body", slowest, 1_000, " ms")
  }
  for (const [tool, params] of replies) {
    const { text } = await server.call(tool, params)
    if (!text.includes('"ok":true')) throw new Error(`${tool} failed: ${text.slice(0, 300)}`)
    yield atMost(`bytes of a reply of ${tool}`, JSON.stringify(params), text.length, 1_000_000, " bytes")
  }
  yield await idleConnections(server)
  await server.stop()
  server.workspace.remove()
}

const bodies: Readonly<Record<string, () => string>> = {
  numbers: () => `{"tool":"read_file","params":[${"1,".repeat(8_000_000)}1]}`,
  "empty objects": () => `{"tool":"read_file","params":[${"{},".repeat(5_300_000)}{}]}`,
  levels: () => `{"tool":"read_file","params":${"[".repeat(8_000_000)}${"]".repeat(8_000_000)}}`,
  keys: () => `{"tool":"read_file","params":{${Array.from({ length: 1_000_000 }, (_, n) => `"k${n}":0`).join()}}}`
}

const replies: ReadonlyArray<readonly [string, object]> = [
  ["read_file", { path: "line.txt" }],
  ["list_dir", { path: "many", page_size: 1_000 }],
  ["find_files", { pattern: "**" }],
  ["search_text", { query: "x" }],
  ["delete_path", { path: "many", recursive: true }],
  ["undo", {}]
]

const idleConnections = async (server: Pick<RunningServer, "url" | "health">) => {
  const { hostname, port } = new URL(server.url)
  const sockets = Array.from({ length: 1_100 }, () => connect(Number(port), hostname).on("error", () => {}))
  await Promise.all(sockets.map((socket) => once(socket, "connect")))
  const milliseconds = await server.health()
  for (const socket of sockets) socket.destroy()
  return atMost("a health call beside idle connections", "1,100 of them", milliseconds, 1_000, " ms")
}

const post = async ({ url, headers }: Pick<RunningServer, "url" | "headers">, body: string): Promise<number> => {
  const answer = await fetch(`${url}/v1/workspaces/default/calls`, { method: "POST", headers: headers("agent"), body })
  await answer.text()
  return answer.status
}

const slowestHealth = (server: Pick<RunningServer, "health">) => {
  let slowest = 0
  const over = new AbortController()
  const watching = (async () => {
    while (!over.signal.aborted) {
      slowest = Math.max(slowest, await server.health())
      await sleep(20)
    }
  })()
  return {
    end: async (): Promise<number> => {
      over.abort()
      await watching
      return slowest
    }
  }
}
