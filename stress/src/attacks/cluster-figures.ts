import { findPostgres } from "@haft/cluster/testing"

import type { Attack, Figure } from "../attack.ts"
import { memberTokens } from "../member-tokens.ts"
import { startServerApart } from "../running-server.ts"
import { startCluster, type TestCluster, type TestMember } from "../test-cluster.ts"

/** Measures a cluster beside a server alone: latency, throughput with one to three members, and many workspaces. */
export const attack: Attack = async function* ({ seconds }) {
  if (findPostgres() === undefined) {
    yield { what: "PostgreSQL", tried: "once", found: "not installed", goal: "-", isMet: true }
    return
  }
  const each = Math.max(50, Math.round(seconds * 5))
  const alone = await startServerApart({ "README.md": "a workspace\n" })
  const cluster = await startCluster({ members: 3, workspaces: 1_000, leaseMs: 20_000 })
  try {
    const { members } = cluster
    const owner = await ownerOf(cluster)
    const other = members.find((one) => one !== owner)
    for (const [where, member] of [
      ["at the owner", owner],
      ["at another member", other]
    ] as const) {
      for (const [name, make, most] of [
        ["read", read, 1],
        ["change", change, 6]
      ] as const) {
        yield over(`${name} ${where}`, await compared([alone.url, member?.url() ?? ""], make, each), most)
      }
    }
    const before = members.map(({ rssMegabytes }) => rssMegabytes())
    const began = performance.now()
    await inParallel(cluster.workspaces, 6, (workspace, index) =>
      send(members[index % 3]?.url() ?? "", workspace, read(index))
    )
    const open = (performance.now() - began) / 1_000
    const grown = members.map(({ rssMegabytes }, index) => rssMegabytes() - (before[index] ?? 0))
    const cpu = members.map(({ cpuSeconds }) => cpuSeconds())
    await new Promise((resolve) => setTimeout(resolve, 10_000))
    const idle = members.map(({ cpuSeconds }, index) => ((cpuSeconds() - (cpu[index] ?? 0)) / 10) * 100)
    yield shown("1,000 workspaces imported and opened", `${open.toFixed(1)} s`)
    yield shown("1,000 workspaces: memory of each member", grown.map((size) => `+${Math.round(size)} MB`).join(", "))
    yield shown("1,000 workspaces idle: CPU of each member", idle.map((part) => `${part.toFixed(1)} %`).join(", "))
    for (const count of [3, 2, 1]) {
      const at = members.slice(0, count)
      for (const gone of members.slice(count)) await gone.leave()
      yield shown(
        `changes a second, ${count} members`,
        `${await throughput(at, cluster.workspaces.slice(0, 48), seconds / 4)}`
      )
    }
  } finally {
    await cluster.remove()
    await alone.stop()
  }
}

type Make = (count: number) => { readonly tool: string; readonly params: object }

const read: Make = () => ({ tool: "read_file", params: { path: "README.md" } })
const change: Make = (count) => ({
  tool: "write_file",
  params: { path: `file-${count % 50}.txt`, content: `${count}\n` }
})

const send = async (url: string, workspace: string, call: ReturnType<Make>): Promise<void> => {
  const response = await fetch(`${url}/v1/workspaces/${workspace}/calls`, {
    method: "POST",
    headers: { authorization: `Bearer ${memberTokens.agent}`, "content-type": "application/json" },
    body: JSON.stringify(call)
  })
  const text = await response.text()
  if (!text.includes('"ok":true')) throw new Error(text)
}

/** Milliseconds of calls at each address, sorted. The calls take turns, so that both have the same load on the machine. */
const compared = async (urls: readonly [string, string], make: Make, count: number) => {
  const times = urls.map((): Array<number> => [])
  for (let index = -30; index < count; index++) {
    for (const [place, url] of urls.entries()) {
      const began = performance.now()
      await send(url, "default", make(index + 30))
      if (index >= 0) times[place]?.push(performance.now() - began)
    }
  }
  const [local = [], clustered = []] = times.map((one) => one.toSorted((a, b) => a - b))
  return { local, clustered }
}

const throughput = async (
  members: ReadonlyArray<TestMember>,
  workspaces: ReadonlyArray<string>,
  seconds: number
): Promise<number> => {
  await inParallel(workspaces, 8, (workspace, index) =>
    send(members[index % members.length]?.url() ?? "", workspace, change(0))
  )
  const until = performance.now() + seconds * 1_000
  let count = 0
  await inParallel(workspaces, workspaces.length, async (workspace, index) => {
    for (let turn = 0; performance.now() < until; turn++) {
      await send(members[(index + turn) % members.length]?.url() ?? "", workspace, change(turn))
      count++
    }
  })
  return Math.round(count / seconds)
}

const inParallel = async <A>(
  all: ReadonlyArray<A>,
  width: number,
  use: (one: A, index: number) => Promise<void>
): Promise<void> => {
  const left = [...all.entries()]
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await use(next[1], next[0])
  }
  await Promise.all(Array.from({ length: width }, work))
}

const ownerOf = async ({ members }: TestCluster): Promise<TestMember | undefined> => {
  await send(members[0]?.url() ?? "", "default", read(0))
  const response = await fetch(`${members[0]?.url()}/v1/cluster`, {
    headers: { authorization: `Bearer ${memberTokens.approver}` }
  })
  const { workspaces } = (await response.json()) as {
    readonly workspaces: ReadonlyArray<{ readonly name: string; readonly owner?: string }>
  }
  return members.find(({ address }) => address === workspaces.find(({ name }) => name === "default")?.owner)
}

const middle = (times: ReadonlyArray<number>): number => times[Math.floor(times.length / 2)] ?? 0

const over = (
  what: string,
  { local, clustered }: { readonly local: ReadonlyArray<number>; readonly clustered: ReadonlyArray<number> },
  most: number
): Figure => {
  const more = middle(clustered) - middle(local)
  const found = `p50 ${middle(clustered).toFixed(2)} ms, a server alone ${middle(local).toFixed(2)} ms`
  return { what, tried: `${clustered.length} calls each`, found, goal: `≤ ${most} ms more`, isMet: more <= most }
}

const shown = (what: string, found: string): Figure => ({ what, tried: "", found, goal: "-", isMet: true })
