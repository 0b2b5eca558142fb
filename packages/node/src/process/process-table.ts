import { readdirSync, readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"

import { statOf } from "./proc-stat.ts"
import { requiredProgram } from "./system-programs.ts"

/** One line of the machine's process table. */
export interface ProcessEntry {
  readonly pid: number
  readonly parent: number
  readonly session: number
}

/** The processes of one moment. */
export interface ProcessTable {
  /** Those that began after `since`, or all; some that are older may be among them. */
  readonly entries: (since?: Moment) => ReadonlyArray<ProcessEntry>
  /** Those of them whose environment was given `assignment`, `NAME=value`. Where that can't be read, there are none. */
  readonly carriers: (assignment: string, since?: Moment) => ReadonlyArray<number>
}

/** A moment as the machine's process numbers tell it: who begins later has a greater number, until they begin anew. */
export interface Moment {
  readonly newest: number
  /** How many processes and threads the machine had started since it booted. */
  readonly started: number
}

let latest: { readonly takenAt: number; readonly table: ProcessTable } | undefined
let coming: Promise<void> | undefined

/** Whoever wants to look within this time looks together. */
const gatherMs = 2

/**
 * Every living process, as of `notBefore` or later. Looking takes milliseconds, and when many programs are ended at
 * a time all of them look: they share what was seen. Zombies are not alive: they wait for a parent to notice.
 */
export const processTable = async (notBefore: number): Promise<ProcessTable> => {
  for (;;) {
    const seen = latest
    if (seen !== undefined && seen.takenAt >= notBefore) return seen.table
    coming ??= sleep(gatherMs)
      .then(look)
      .finally(() => {
        coming = undefined
      })
    await coming
  }
}

const look = async (): Promise<void> => {
  const takenAt = performance.now()
  latest = { takenAt, table: process.platform === "linux" ? tableOfProc() : tableOf(await fromPs()) }
}

// A process is read when it is first asked for: most callers ask for the newest few.
const tableOfProc = (): ProcessTable => {
  const numbers = numbersInProc()
  const entryOf = remembering(readEntry)
  const environmentOf = remembering((pid) => `\0${readProc(pid, "environ")}`)
  const newerThan = (since: Moment | undefined) => {
    const oldest = numberBefore(since)
    return numbers.filter((pid) => pid > oldest)
  }
  return {
    entries: (since) =>
      newerThan(since)
        .map(entryOf)
        .filter((entry) => entry !== undefined),
    carriers: (assignment, since) =>
      newerThan(since).filter((pid) => environmentOf(pid).includes(`\0${assignment}\0`) && entryOf(pid) !== undefined)
  }
}

const tableOf = (entries: ReadonlyArray<ProcessEntry>): ProcessTable => ({ entries: () => entries, carriers: () => [] })

const remembering = <A>(read: (pid: number) => A): ((pid: number) => A) => {
  const known = new Map<number, A>()
  return (pid) => {
    if (!known.has(pid)) known.set(pid, read(pid))
    return known.get(pid) as A
  }
}

export const thisMoment = (): Moment => ({
  newest: Number(readProc("sys", "kernel/ns_last_pid")),
  started: Number(/^processes (\d+)$/m.exec(readProc("stat"))?.[1])
})

/** Processes that began after `since` have greater numbers than this one. Where that is not sure, it is 0. */
const numberBefore = (since: Moment | undefined): number => {
  if (since === undefined) return 0
  const now = thisMoment()
  numberCount ??= Number(readProc("sys", "kernel/pid_max"))
  // Numbers begin anew when all have been used, and not before so many were.
  const isSure = now.newest >= since.newest && now.started - since.started < numberCount / 4
  return isSure ? since.newest : 0
}

let numberCount: number | undefined

/** Tests whether one of these processes is alive. */
export const someLive = async (pids: ReadonlyArray<number>): Promise<boolean> => {
  if (process.platform === "linux") return pids.some((pid) => readEntry(pid) !== undefined)
  const { entries } = await processTable(performance.now())
  return entries().some(({ pid }) => pids.includes(pid))
}

/**
 * How many living processes that began after `since` carry an assignment, or come from `root`, which lives itself and is
 * not counted; Linux only.
 */
export const countCarriers = async (assignment: string, since?: Moment, root?: number): Promise<number> => {
  if (process.platform !== "linux") return 0
  const oldest = numberBefore(since)
  const known = root === undefined ? [] : descendantsOf(root)
  let unsure = numbersInProc().filter((pid) => pid > oldest && !known.includes(pid))
  let count = known.length
  for (let look = 0; look < 4 && unsure.length > 0; look++) {
    if (look > 0) await sleep(1)
    const seen = unsure.map((pid) => ({ pid, environment: readProc(pid, "environ") }))
    count += seen.filter(
      ({ pid, environment }) => `\0${environment}`.includes(`\0${assignment}\0`) && readEntry(pid) !== undefined
    ).length
    // A process that is just becoming another program shows no environment for a moment.
    unsure = seen.filter(({ pid, environment }) => environment === "" && isProgram(pid)).map(({ pid }) => pid)
  }
  return count
}

/** The living processes that `pid` started or took over; Linux only. */
export const childrenOf = (pid: number): ReadonlyArray<number> =>
  readProc(pid, `task/${pid}/children`)
    .split(" ")
    .map(Number)
    .filter((child) => child > 0 && readEntry(child) !== undefined)

const descendantsOf = (pid: number): ReadonlyArray<number> => {
  const children = childrenOf(pid)
  return children.concat(children.flatMap(descendantsOf))
}

const numbersInProc = (): ReadonlyArray<number> =>
  readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0)

const readEntry = (pid: number): ProcessEntry | undefined => {
  const [state, parent, , session] = statOf(pid)
  if (state === undefined || state === "Z" || state === "X") return undefined
  return { pid, parent: Number(parent), session: Number(session) }
}

// Not one of the kernel's own, which never have an environment, and not one whose environment is for others to read.
const isProgram = (pid: number): boolean => {
  const entry = readEntry(pid)
  return entry !== undefined && pid !== 2 && entry.parent !== 2 && readProc(pid, "cmdline") !== ""
}

// A process may be gone, or another user's: then there is nothing to read.
const readProc = (...path: ReadonlyArray<string | number>): string => {
  try {
    return readFileSync(`/proc/${path.join("/")}`, "latin1")
  } catch {
    return ""
  }
}

const fromPs = async (): Promise<ReadonlyArray<ProcessEntry>> => {
  const { execFile } = await import("node:child_process")
  return new Promise((resolve) => {
    execFile(requiredProgram("ps"), ["-A", "-o", "pid=,ppid=,pgid=,stat="], (_, stdout) => {
      resolve(
        stdout
          .split("\n")
          .map((line) => line.trim().split(/\s+/))
          .filter(([pid, , , state]) => Number(pid) > 0 && state?.startsWith("Z") === false)
          .map(([pid, parent, group]) => ({ pid: Number(pid), parent: Number(parent), session: Number(group) }))
      )
    })
  })
}
