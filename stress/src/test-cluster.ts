import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { type FaultyProxy, freePort, startFaultyProxy, startPostgres, type TestPostgres } from "@haft/cluster/testing"

import { makeNetwork, type MemberPlace } from "./member-network.ts"
import type { MemberSetting } from "./member-tokens.ts"

/** One member of a cluster under test, in its own process, with its own way to the database. */
export interface TestMember {
  readonly address: string
  readonly directory: string
  readonly url: () => string
  readonly kill: () => Promise<void>
  /** Hands all workspaces over, and ends. */
  readonly leave: () => Promise<void>
  readonly start: () => Promise<void>
  readonly signal: (signal: "SIGSTOP" | "SIGCONT") => void
  /** Resident memory of its process. */
  readonly rssMegabytes: () => number
  /** Processor time of its process so far. */
  readonly cpuSeconds: () => number
  /** The network between the member and the database. */
  readonly toDatabase: FaultyProxy
  /** Cuts its machine off from all others; absent where the machine has no network namespaces. */
  readonly cutOff?: (isCut: boolean) => void
}

export interface TestCluster {
  readonly postgres: TestPostgres
  readonly members: ReadonlyArray<TestMember>
  readonly workspaces: ReadonlyArray<string>
  /** A directory outside of all workspaces. */
  readonly outside: string
  readonly remove: () => Promise<void>
}

export interface ClusterOptions {
  readonly members: number
  readonly workspaces: number
  readonly leaseMs: number
  /** Gives each member a network namespace, and clocks that differ by hours. */
  readonly isApart?: boolean
}

/** Clocks of members that are apart. */
const skews = [0, 3_600_000, -7_200_000]

/** Starts PostgreSQL and the members of a cluster on loopback. */
export const startCluster = async ({
  members: count,
  workspaces: many,
  leaseMs,
  isApart = false
}: ClusterOptions): Promise<TestCluster> => {
  const postgres = await startPostgres()
  const scratch = mkdtempSync(join(tmpdir(), "haft-stress-cluster-"))
  const [seed, outside] = [join(scratch, "seed"), join(scratch, "outside")]
  for (const directory of [seed, outside]) mkdirSync(directory)
  writeFileSync(join(seed, "README.md"), "a workspace\n")
  const workspaces = Array.from({ length: many }, (_, index) => (index === 0 ? "default" : `workspace-${index}`))
  const members: Array<TestMember> = []
  const network = makeNetwork(isApart ? count : 0)
  for (let index = 0; index < count; index++) {
    const place = network.places[index] ?? { host: "127.0.0.1", inside: (program, args) => [program, args] as const }
    const skewMs = isApart ? (skews[index % skews.length] ?? 0) : 0
    const setting = { directory: join(scratch, `member-${index}`), seed, workspaces, leaseMs, skewMs, host: place.host }
    const toDatabase = await startFaultyProxy(Number(new URL(postgres.url).port), network.gateway)
    const database = postgres.url.replace(/@.*\//, `@${network.gateway}:${toDatabase.port}/`)
    members.push(await makeMember({ ...setting, database }, place, toDatabase))
  }
  await Promise.all(members.map(({ start }) => start()))
  return {
    postgres,
    members,
    workspaces,
    outside,
    remove: async () => {
      await Promise.all(members.map(({ kill }) => kill()))
      await postgres.remove()
      network.remove()
      rmSync(scratch, { recursive: true, force: true })
    }
  }
}

const makeMember = async (
  setting: Omit<MemberSetting, "address">,
  place: MemberPlace,
  toDatabase: FaultyProxy
): Promise<TestMember> => {
  const address = `${place.host}:${await freePort()}`
  let child: ChildProcess | undefined
  let url = ""
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, "exit")
    child.kill(signal)
    await ended
  }
  return {
    address,
    directory: setting.directory,
    url: () => url,
    kill: () => end("SIGKILL"),
    leave: () => end("SIGTERM"),
    start: async () => {
      const argument = JSON.stringify({ ...setting, address } satisfies MemberSetting)
      const args = [...process.execArgv, join(import.meta.dirname, "cluster-member.ts"), argument]
      const [program, all] = place.inside(process.execPath, args)
      child = spawn(program, all, { stdio: ["ignore", "ignore", "inherit", "ipc"] })
      const [message] = (await once(child, "message")) as [{ readonly url: string }]
      ;({ url } = message)
    },
    signal: (signal) => void child?.kill(signal),
    rssMegabytes: () => (Number(statOf(child, "statm").split(" ")[1]) * 4096) / 1024 ** 2,
    // User and system time in ticks of 10 ms, counted behind the program's name, which may have spaces.
    cpuSeconds: () => {
      const fields = statOf(child, "stat").split(") ")[1]?.split(" ") ?? []
      return (Number(fields[11]) + Number(fields[12])) / 100
    },
    toDatabase,
    ...(place.cutOff !== undefined && { cutOff: place.cutOff })
  }
}

const statOf = (child: ChildProcess | undefined, file: string): string =>
  readFileSync(`/proc/${child?.pid}/${file}`, "utf8")
