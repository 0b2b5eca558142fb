import { setTimeout as sleep } from "node:timers/promises"

import { verifyRun } from "haft/internal"

import { type Attack, type Figure, none } from "../attack.ts"
import { processesIn } from "../process-state.ts"
import { startServerApart } from "../running-server.ts"

const inFlight = 64

/** How much the memory may grow from the second quarter of the time to the last. */
const mostGrowthMegabytes = 48

/** Puts a server under load: 64 clients make calls of every kind, over HTTP and MCP, and some of them hang up. */
export const attack: Attack = async function* ({ seconds }) {
  const server = await startServerApart(files)
  // Every kind once before, as modules that are loaded at first use are no leak.
  for (const { run } of kinds) await run(server, 0)
  yield* underLoad(server, seconds)
  const code = await server.stop()
  const { root, state, remove } = server.workspace
  const verified = await verifyRun({ root, state })
  yield none("the server stops by itself and leaves a whole record", "once", [
    ...(code === 0 ? [] : [`exit code ${code}`]),
    ...(verified.intact ? [] : [`line ${verified.line} of the record ${verified.problem}`])
  ])
  remove()
}

type Server = Awaited<ReturnType<typeof startServerApart>>

async function* underLoad(server: Server, seconds: number): AsyncIterable<Figure> {
  const before = await settled(server, () => true)
  const until = performance.now() + seconds * 1000
  const problems: Array<string> = []
  const memory: Array<number> = []
  let slowestMs = 0
  let count = 0
  const client = async (lane: number): Promise<void> => {
    for (let turn = lane; performance.now() < until; turn++) {
      const kind = kinds[turn % kinds.length]
      if (kind === undefined) continue
      count++
      const problem = await kind.run(server, lane).catch((error: unknown) => String(error))
      if (problem !== undefined) problems.push(`${kind.name}: ${problem.slice(0, 500)}`)
    }
  }
  const watcher = async (): Promise<void> => {
    while (performance.now() < until) {
      memory.push(server.rssMegabytes())
      slowestMs = Math.max(slowestMs, await server.health())
      await sleep(500)
    }
  }
  const listening = new AbortController()
  const heard = listen(server, listening.signal)
  await Promise.all([watcher(), ...Array.from({ length: inFlight }, (_, lane) => client(lane))])
  listening.abort()
  const tried = `${count} calls, ${inFlight} in flight, ${seconds.toFixed(0)} s`
  yield none("every call is answered, and rightly", tried, problems)
  yield {
    what: "events are heard meanwhile",
    tried,
    found: `${await heard} events`,
    goal: "some for every call",
    isMet: (await heard) > count
  }
  yield {
    what: "the server says that it is well",
    tried,
    found: `after ${slowestMs.toFixed(0)} ms at most`,
    goal: "≤ 1000 ms",
    isMet: slowestMs <= 1000
  }
  const quarter = Math.floor(memory.length / 4)
  const growth = median(memory.slice(-quarter)) - median(memory.slice(quarter, 2 * quarter))
  yield {
    what: "memory stays where it is",
    tried,
    found: `${growth.toFixed(0)} MB more, ${Math.max(...memory).toFixed(0)} MB at most`,
    goal: `≤ ${mostGrowthMegabytes} MB more`,
    isMet: growth <= mostGrowthMegabytes
  }
  const after = await settled(server, (now) => isBack(now, before))
  yield {
    what: "descriptors and processes are back where they were",
    tried,
    found: `${after.descriptors} and ${after.processes}`,
    goal: `${before.descriptors} and ${before.processes}`,
    isMet: isBack(after, before)
  }
}

/** A kind of request, and how its answer is checked. */
interface Kind {
  readonly name: string
  readonly run: (server: Server, lane: number) => Promise<string | undefined>
}

const files = {
  "a.txt": "one\ntwo\nthree\n",
  "b.txt": "one\n",
  ...Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`src/${index}.ts`, `export const n = ${index}\n`]))
}

const call = (
  tool: string,
  params: (lane: number) => object,
  isRight: (envelope: Envelope) => boolean = ({ ok }) => ok
): Kind => ({
  name: tool,
  run: async (server, lane) => {
    const envelope = await callTool(server, tool, params(lane))
    return isRight(envelope) ? undefined : JSON.stringify(envelope)
  }
})

const kinds: ReadonlyArray<Kind> = [
  call(
    "read_file",
    () => ({ path: "a.txt" }),
    ({ result }) => result?.["content"] === "one\ntwo\nthree\n"
  ),
  call("list_dir", () => ({ path: "src" })),
  call(
    "read_file",
    () => ({ path: "missing.txt" }),
    ({ error }) => error?.code === "file_not_found"
  ),
  call("find_files", () => ({ pattern: "src/1*.ts" })),
  call("search_text", () => ({ query: "n = 17" })),
  call("edit_file", () => ({ path: "b.txt", edits: [{ find: "one", replace: "one" }] })),
  call(
    "no_such_tool",
    () => ({}),
    ({ error }) => error?.code === "unknown_tool"
  ),
  call("write_file", (lane) => ({ path: `out/${lane}.txt`, content: `${lane}\n`.repeat(200) })),
  call(
    "run_command",
    (lane) => ({ command: `echo ${lane}; seq 1 2000` }),
    ({ result }) => result?.["exit_code"] === 0
  ),
  {
    name: "a terminal, opened, typed into and closed",
    run: async (server) => {
      const opened = await callTool(server, "open_terminal", { command: "cat", yield_time_ms: 250 })
      const id = opened.result?.["terminal_id"]
      const typed = await callTool(server, "write_terminal", { terminal_id: id, text: "typed\n", quiet_ms: 50 })
      const closed = await callTool(server, "close_terminal", { terminal_id: id })
      return opened.ok && typed.ok && closed.ok ? undefined : JSON.stringify({ opened, typed, closed })
    }
  },
  {
    name: "a call over MCP",
    run: async (server) => {
      const response = await post(server, "/mcp", mcpCall, { headers: mcpHeaders })
      const { result } = (await response.json()) as { readonly result?: { readonly isError?: boolean } }
      return result?.isError === false ? undefined : JSON.stringify(result)
    }
  },
  {
    name: "a command whose client hangs up",
    run: async (server) => {
      const body = { tool: "run_command", params: { command: "sleep 60" } }
      const signal = AbortSignal.timeout(50 + Math.floor(Math.random() * 300))
      const response = await post(server, "/v1/workspaces/default/calls", body, { signal }).catch(() => undefined)
      return response === undefined ? undefined : `answered with ${response.status}`
    }
  }
]

const mcpCall = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: {
    name: "read_file",
    arguments: { path: "a.txt" },
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "load", version: "0" },
      "io.modelcontextprotocol/clientCapabilities": {}
    }
  }
}
const mcpHeaders = {
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
  "mcp-name": "read_file"
}

interface Envelope {
  readonly ok: boolean
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly code: string }
}

const callTool = async (server: Server, tool: string, params: object): Promise<Envelope> =>
  JSON.parse((await server.call(tool, params)).text) as Envelope

const post = (
  { url, headers }: Server,
  path: string,
  body: unknown,
  options: { readonly headers?: Readonly<Record<string, string>>; readonly signal?: AbortSignal } = {}
): Promise<Response> =>
  fetch(`${url}${path}`, {
    ...options,
    method: "POST",
    headers: { ...headers("agent"), ...options.headers },
    body: JSON.stringify(body)
  })

/** Listens to events as the console does, and counts them. */
const listen = async ({ url, headers }: Server, signal: AbortSignal): Promise<number> => {
  let count = 0
  try {
    const { body } = await fetch(`${url}/v1/workspaces/default/events`, { headers: headers("approver"), signal })
    const text = body?.pipeThrough(new TextDecoderStream()) ?? []
    for await (const chunk of text) count += chunk.split("\nid: ").length - 1
  } catch {
    // The signal has ended the stream.
  }
  return count
}

interface Held {
  readonly descriptors: number
  readonly processes: number
}

const isBack = (now: Held, before: Held): boolean =>
  now.descriptors <= before.descriptors && now.processes <= before.processes

// Waits, because idle connections and spare processes end by themselves after a while.
const settled = async (server: Server, isEnough: (now: Held) => boolean): Promise<Held> => {
  for (let turn = 0; ; turn++) {
    await sleep(500)
    const now = { descriptors: server.descriptors(), processes: processesIn(server.workspace.root).length }
    if (turn > 1 && (isEnough(now) || turn > 40)) return now
  }
}

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0
