import { once } from "node:events"
import { readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { gzipSync } from "node:zlib"

import { type Attack, atMost, forSeconds } from "../attack.ts"
import { type RunningServer, startServerApart } from "../running-server.ts"

const mostMegabytes = 128
const mostHealthMs = 1000

/** Floods a server through all its interfaces. It must keep little of that in memory, and go on answering. */
export const attack: Attack = async function* ({ seconds }) {
  const site = await hostileSite()
  const server = await startServerApart(undefined, { packages: { web: { privateHosts: [site.host], cache: false } } })
  // The first calls load modules, which must not be counted as memory that a flood takes.
  await done(server, "run_command", { command: "true" })
  await done(server, "open_terminal", { command: "true" })
  await done(server, "fetch_url", { url: `http://${site.host}/` })
  for (const [what, flood] of Object.entries(floods)) {
    await server.call("read_file", { path: "a.txt" })
    const before = server.rssMegabytes()
    let peak = before
    let slowest = 0
    const over = new AbortController()
    const watch = (async () => {
      while (!over.signal.aborted) {
        peak = Math.max(peak, server.rssMegabytes())
        slowest = Math.max(slowest, await server.health())
        await sleep(20)
      }
    })()
    const tried = await flood(server, seconds / Object.keys(floods).length, site.host)
    over.abort()
    await watch
    yield atMost(`memory under a flood of ${what}`, tried, peak - before, mostMegabytes, " MB")
    yield atMost(`a health call under a flood of ${what}`, tried, slowest, mostHealthMs, " ms")
  }
  await server.stop()
  server.workspace.remove()
  site.close()
}

type Target = Pick<RunningServer, "url" | "headers" | "call" | "workspace">
type Flood = (server: Target, seconds: number, site: string) => Promise<string>

const floods: Readonly<Record<string, Flood>> = {
  output: async (server, seconds) => {
    const count = await forSeconds(seconds, async () => {
      await done(server, "run_command", { command: "head -c 50000000 /dev/zero | tr '\\0' x" })
    })
    return `${count * 50} MB`
  },
  "terminal output": async (server, seconds) => {
    const count = await forSeconds(seconds, async () => {
      await done(server, "open_terminal", { command: "head -c 10000000 /dev/zero | tr '\\0' x", quiet_ms: 300 })
    })
    return `${count * 10} MB`
  },
  "pages that are bombs": (server, seconds, site) => fetchAtOnce(server, seconds, `http://${site}/bomb`),
  "pages that never end": (server, seconds, site) => fetchAtOnce(server, seconds, `http://${site}/endless`),
  "large bodies": (server, seconds) => pour(server, seconds, "content-length: 1000000000"),
  "bodies that never end": (server, seconds) => pour(server, seconds, "transfer-encoding: chunked"),
  "events, with listeners that do not listen": async (server, seconds) => {
    const { hostname, port } = new URL(server.url)
    const authorization = server.headers("approver")["authorization"] ?? ""
    const sockets = Array.from({ length: 50 }, () => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(
          `GET /v1/workspaces/default/events HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: ${authorization}\r\n\r\n`
        )
      })
      return socket.on("error", () => {}).pause()
    })
    const content = "x".repeat(20_000)
    const count = await forSeconds(seconds, async () => {
      await server.call("write_file", { path: "flood.txt", content })
    })
    for (const socket of sockets) socket.destroy()
    return `${count * 2} events to ${sockets.length} listeners`
  },
  questions: async (server, seconds) => {
    await asApprover(server, "POST", "rules", { id: "ask-first", tool: "delete_path", decision: "ask" })
    const count = await forSeconds(seconds, async () => {
      const over = new AbortController()
      const asking = Array.from({ length: 50 }, () =>
        server.call("delete_path", { path: "a.txt" }, over.signal).catch(() => undefined)
      )
      await sleep(100)
      over.abort()
      await Promise.all(asking)
    })
    // The questions of clients that have gone must be closed.
    for (let tries = 0; (await openQuestions(server)) > 0; tries++) {
      if (tries === 100) throw new Error(`${await openQuestions(server)} questions are open that nobody waits for`)
      await sleep(50)
    }
    return `${count * 50} calls that ask, by clients that leave`
  },
  rules: async (server, seconds) => {
    const file = join(server.workspace.state, "rules.json")
    const stored = JSON.parse(readFileSync(file, "utf8")) as { rules: Array<object> }
    const more = Array.from({ length: 10_000 }, (_, index) => ruleNumber(index))
    writeFileSync(file, JSON.stringify({ ...stored, rules: [...stored.rules, ...more] }))
    const count = await forSeconds(seconds, async (round) => {
      await asApprover(server, "POST", "rules", ruleNumber(more.length + round))
      await done(server, "write_file", { path: "b.txt", content: "b" })
    })
    return `${more.length + count} rules`
  },
  sessions: async (server, seconds) => {
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "stress", version: "0" } }
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })
    const headers = { ...server.headers("agent"), accept: "application/json, text/event-stream" }
    let count = 0
    const until = performance.now() + seconds * 1000
    while (count < fewestSessions || performance.now() < until) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => fetch(`${server.url}/mcp`, { method: "POST", body, headers }))
      )
      for (const answer of answers) {
        await answer.text()
        const session = answer.headers.get("mcp-session-id")
        if (session === null) continue
        await fetch(`${server.url}/mcp`, { method: "DELETE", headers: { ...headers, "mcp-session-id": session } }).then(
          (one) => one.text()
        )
      }
      count += answers.length
    }
    return `${count} sessions opened and closed`
  }
}

const fewestSessions = 10_000

const ruleNumber = (index: number) => ({
  id: `rule-${index}`,
  tool: "write_file",
  decision: "allow",
  pattern: `^.*${index}.*$`
})

const asApprover = async (server: Target, method: string, what: string, body?: object): Promise<string> => {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const url = `${server.url}/v1/workspaces/default/${what}`
  const answer = await fetch(url, { method, headers: server.headers("approver"), ...sent })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${what} is not taken: ${text.slice(0, 300)}`)
  return text
}

const openQuestions = async (server: Target): Promise<number> =>
  (JSON.parse(await asApprover(server, "GET", "approvals")) as { approvals: Array<object> }).approvals.length

const done = async (server: Pick<RunningServer, "call">, tool: string, params: object): Promise<void> => {
  const { text } = await server.call(tool, params)
  if (!text.includes('"ok":true')) throw new Error(`${tool} does not do its work: ${text.slice(0, 300)}`)
}

/** Twenty clients that send a body without end, and begin again when the server closes the connection. */
const pour = async ({ url, headers }: Pick<RunningServer, "url" | "headers">, seconds: number, length: string) => {
  const { hostname, port } = new URL(url)
  const fields = Object.entries(headers("agent")).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `POST /v1/workspaces/default/calls HTTP/1.1\r\nhost: ${hostname}:${port}\r\n${fields.join("")}${length}\r\n\r\n`
  const chunk = `10000\r\n${" ".repeat(0x10000)}\r\n`
  const until = performance.now() + seconds * 1000
  let bytes = 0
  const client = async (): Promise<void> => {
    while (performance.now() < until) {
      const socket = connect(Number(port), hostname)
      socket.on("error", () => {}).resume()
      socket.write(head)
      while (!socket.destroyed && performance.now() < until) {
        bytes += chunk.length
        if (!socket.write(chunk)) await drainedOrClosed(socket)
      }
      socket.destroy()
    }
  }
  await Promise.all(Array.from({ length: 20 }, client))
  return `${Math.round(bytes / 1e6)} MB by 20 clients`
}

const drainedOrClosed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    const over = (): void => {
      socket.off("drain", over).off("close", over)
      resolve()
    }
    socket.on("drain", over).on("close", over)
  })

/** Fetches a page with eight calls at a time. Each of them must get a reply. */
const fetchAtOnce = async (server: Target, seconds: number, url: string): Promise<string> => {
  let count = 0
  const client = (): Promise<number> =>
    forSeconds(seconds, async () => {
      const { status, text } = await server.call("fetch_url", { url })
      if (status !== 200 || text.includes("internal_error")) throw new Error(`${url} ends in ${text.slice(0, 300)}`)
      count++
    })
  await Promise.all(Array.from({ length: 8 }, client))
  return `${count} pages`
}

/** A web site with a compressed page of one megabyte that unpacks to a gigabyte, one without end, and a plain one. */
const hostileSite = async () => {
  const bomb = gzipSync(Buffer.alloc(2 ** 30), { level: 9 })
  const endless = Buffer.from("<p>and so on</p>\n".repeat(4096))
  const server = createServer(({ url }, response) => {
    const isBomb = url === "/bomb"
    response
      .on("error", () => {})
      .writeHead(200, { "content-type": "text/html", ...(isBomb && { "content-encoding": "gzip" }) })
    const more = (): void => {
      while (!response.destroyed && response.write(endless));
    }
    if (url === "/endless") response.on("drain", more).write(endless, more)
    else response.end(isBomb ? bomb : "<p>A page</p>")
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}
