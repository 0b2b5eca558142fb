import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

import { findPostgres, readLog } from "@haft/cluster/testing"

import { type Attack, atMost, type Figure } from "../attack.ts"
import { memberTokens } from "../member-tokens.ts"
import { startCluster, type TestCluster, type TestMember } from "../test-cluster.ts"

/** Below this time only the faults of a quick look are tried, with a shorter lease. */
const quickSeconds = 90
const callers = 8
/** No answer may take longer than this: every wait in a cluster has a limit. */
const longestAnswerMs = 60_000

/** Kills, freezes and cuts off members and the database under load. Every call is checked against the log. */
export const attack: Attack = async function* ({ seconds }) {
  if (findPostgres() === undefined) {
    yield { what: "PostgreSQL", tried: "once", found: "not installed", goal: "-", isMet: true }
    return
  }
  const isQuick = seconds < quickSeconds
  const leaseMs = isQuick ? 3_000 : 6_000
  const cluster = await startCluster({ members: 3, workspaces: 8, leaseMs, isApart: true })
  try {
    const faults = faultsOn(cluster, leaseMs).filter(({ isSlow }) => !isQuick || isSlow !== true)
    yield {
      what: "members in network namespaces of their own",
      tried: "3 members",
      found: cluster.members.every(({ cutOff }) => cutOff !== undefined) ? "yes" : "no: it needs root and ip",
      goal: "-",
      isMet: true
    }
    for (const { name, fault } of faults) yield* trial(cluster, name, fault, seconds / faults.length)
  } finally {
    await cluster.remove()
  }
}

type Fault = (victim: TestMember) => Promise<void>

interface NamedFault {
  readonly name: string
  readonly fault: Fault
  /** True for one that a quick look leaves out. */
  readonly isSlow?: true
}

const faultsOn = ({ postgres }: TestCluster, leaseMs: number): ReadonlyArray<NamedFault> => {
  const forTwoLeases = async (set: (isOn: boolean) => void): Promise<void> => {
    set(true)
    await sleep(2 * leaseMs)
    set(false)
  }
  return [
    { name: "no fault", isSlow: true, fault: () => sleep(1_000) },
    {
      name: "member killed (kill -9)",
      fault: async (victim) => {
        await victim.kill()
        await sleep(leaseMs + 1_000)
        await victim.start()
      }
    },
    {
      name: "member frozen for two leases",
      isSlow: true,
      fault: (victim) => forTwoLeases((isOn) => victim.signal(isOn ? "SIGSTOP" : "SIGCONT"))
    },
    {
      name: "network of a member cut for two leases",
      fault: (victim) => forTwoLeases(victim.cutOff ?? victim.toDatabase.drop)
    },
    {
      name: "member cut off the database",
      isSlow: true,
      fault: (victim) => forTwoLeases(victim.toDatabase.cut)
    },
    {
      name: "database slow (300 ms a statement)",
      isSlow: true,
      fault: (victim) => forTwoLeases((isOn) => victim.toDatabase.delay(isOn ? 300 : 0))
    },
    {
      name: "database killed for 8 s",
      isSlow: true,
      fault: async () => {
        await postgres.kill()
        await sleep(8_000)
        await postgres.start()
      }
    },
    {
      name: "database restarted",
      fault: async () => {
        await postgres.stop()
        await postgres.start()
      }
    },
    {
      name: "member leaves and joins",
      fault: async (victim) => {
        await victim.leave()
        await victim.start()
      }
    }
  ]
}

/** A call as its caller saw it. */
interface Made {
  readonly id: string
  readonly workspace: string
  readonly kind: "edit" | "command"
  readonly outcome: "made" | "unknown" | "given up"
  readonly longestMs: number
  readonly ended: number
}

let round = 0

async function* trial(cluster: TestCluster, name: string, fault: Fault, seconds: number): AsyncIterable<Figure> {
  const { members, workspaces } = cluster
  const number = round++
  const victim = members[number % members.length]
  if (victim === undefined) return
  const state = { isOver: false }
  const made: Array<Made> = []
  const workers = Array.from({ length: callers }, async (_, caller) => {
    for (let count = 0; !state.isOver; count++) {
      const workspace = workspaces[(caller + count) % workspaces.length] ?? "default"
      const kind = count % 4 === 3 ? "command" : "edit"
      made.push(await makeCall(cluster, { id: `t${number}-c${caller}-${count}`, workspace, kind, caller }))
    }
  })
  await sleep(2_000)
  const began = performance.now()
  await fault(victim)
  await sleep(Math.max(2_000, seconds * 1_000 - (performance.now() - began)))
  state.isOver = true
  await Promise.all(workers)

  const { lost, twice, late, differing } = await judge(cluster, made)
  const unknown = made.filter(({ outcome }) => outcome === "unknown").length
  const problems = [...lost, ...twice, ...late, ...differing]
  yield {
    what: name,
    tried: `${made.length} calls`,
    found: `${lost.length} lost, ${twice.length} twice, ${late.length} late, ${differing.length} differ; ${unknown} unknown`,
    goal: "0 lost, 0 twice, 0 late, 0 differ",
    isMet: problems.length === 0,
    cases: problems.slice(0, 5)
  }
  yield atMost(
    `${name}: longest answer`,
    `${made.length} calls`,
    Math.max(...made.map(({ longestMs }) => longestMs)),
    longestAnswerMs,
    " ms"
  )
  yield { ...gapOf(made, began), what: `${name}: longest gap without a change, one workspace` }
}

/** The longest time in which a workspace took no change, from the fault on. */
const gapOf = (made: ReadonlyArray<Made>, began: number): Figure => {
  const gaps = [...Map.groupBy(made, ({ workspace }) => workspace).values()].map((calls) => {
    const times = calls.filter(({ outcome }) => outcome === "made").map(({ ended }) => ended)
    const sorted = [began, ...times.filter((time) => time > began)].toSorted((one, other) => one - other)
    return Math.max(...sorted.slice(1).map((time, index) => time - (sorted[index] ?? time)))
  })
  return {
    what: "",
    tried: `${gaps.length} workspaces`,
    found: `${Math.round(Math.max(...gaps))} ms`,
    goal: "-",
    isMet: true
  }
}

/** Makes one call at any member, and sends it again with the same request id until its outcome is known. */
const makeCall = async (
  { members, outside }: TestCluster,
  { id, workspace, kind, caller }: Pick<Made, "id" | "workspace" | "kind"> & { readonly caller: number }
): Promise<Made> => {
  const params =
    kind === "command"
      ? { tool: "run_command", params: { command: `echo ${id} >> ${join(outside, "ran.txt")}` } }
      : { tool: "write_file", params: { path: `made/${id}.txt`, content: `${id}\n` } }
  let longestMs = 0
  const ended = (outcome: Made["outcome"]): Made => ({
    id,
    workspace,
    kind,
    outcome,
    longestMs,
    ended: performance.now()
  })
  for (let attempt = 0; attempt < 200; attempt++) {
    const member = members[(caller + attempt) % members.length]
    const began = performance.now()
    const code = await fetch(`${member?.url()}/v1/workspaces/${workspace}/calls`, {
      method: "POST",
      headers: { authorization: `Bearer ${memberTokens.agent}`, "content-type": "application/json" },
      body: JSON.stringify({ ...params, request_id: id }),
      signal: AbortSignal.timeout(longestAnswerMs)
    }).then(
      async (response) => codeOf(await response.json()),
      () => "no_connection"
    )
    longestMs = Math.max(longestMs, performance.now() - began)
    if (code === "ok" || code === "already_applied") return ended("made")
    if (code === "unknown_outcome" && kind === "command") return ended("unknown")
    await sleep(200)
  }
  return ended("given up")
}

const codeOf = (reply: unknown): string => {
  const { ok, error } = reply as { readonly ok?: boolean; readonly error?: { readonly code: string } }
  return ok === true ? "ok" : (error?.code ?? "no_reply")
}

/** Compares what callers were told with the log, with the files of the owners, and with what commands have left. */
const judge = async ({ postgres, workspaces, members, outside }: TestCluster, made: ReadonlyArray<Made>) => {
  const file = join(outside, "ran.txt")
  const ran = existsSync(file) ? readFileSync(file, "utf8").split("\n") : []
  const runs = new Map<string, number>()
  for (const id of ran) runs.set(id, (runs.get(id) ?? 0) + 1)
  const lost: Array<string> = []
  const twice: Array<string> = []
  const late: Array<string> = []
  const differing: Array<string> = []
  for (const workspace of workspaces) {
    const { commits, files, owner } = await readLog(postgres.url, workspace)
    const mine = made.filter((call) => call.workspace === workspace)
    const ids = commits.map(({ requestId }) => requestId)
    for (const { id, kind, outcome } of mine) {
      if (outcome === "given up") lost.push(`${id} was never answered`)
      if (outcome !== "made") continue
      const isThere = kind === "command" ? runs.has(id) : files.has(`made/${id}.txt`)
      if (!isThere) lost.push(`${id} (${kind}) was answered as made, and is not there`)
      if (kind === "edit" && ids.filter((one) => one === id).length !== 1)
        twice.push(`${id} is in the log more than once`)
    }
    for (const [index, { seq, epoch }] of commits.entries()) {
      const before = commits[index - 1]
      if (before !== undefined && epoch < before.epoch)
        late.push(`${workspace}: commit ${seq} of epoch ${epoch} comes after epoch ${before.epoch}`)
    }
    const member = members.find(({ address }) => address === owner)
    if (member !== undefined) differing.push(...compare(join(member.directory, workspace, "files"), files))
  }
  for (const [id, count] of runs) if (count > 1) twice.push(`${id} ran ${count} times`)
  return { lost, twice, late, differing }
}

/** Differences between a directory and the files that the log has. */
const compare = (directory: string, files: ReadonlyMap<string, string>): ReadonlyArray<string> => {
  if (!existsSync(directory)) return []
  const found = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  const paths = found.map((one) => join(one.parentPath, one.name).slice(directory.length + 1))
  const odd = paths.filter(
    (path) =>
      files.get(path) !==
      createHash("sha256")
        .update(readFileSync(join(directory, path)))
        .digest("hex")
  )
  const missing = [...files.keys()].filter((path) => !paths.includes(path))
  return [...odd.map((path) => `${path} differs from the log`), ...missing.map((path) => `${path} is missing`)]
}
