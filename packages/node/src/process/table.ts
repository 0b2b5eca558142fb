import { execFile } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"

/** One line of the machine's process table. */
export interface ProcessEntry {
  readonly pid: number
  readonly parent: number
  readonly session: number
}

/** The processes of one moment. */
export interface ProcessTable {
  readonly entries: ReadonlyArray<ProcessEntry>
  /** Those whose environment was given `assignment`, `NAME=value`. Where that can't be read, there are none. */
  readonly carriers: (assignment: string) => ReadonlyArray<number>
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
  const entries = process.platform === "linux" ? fromProc() : await fromPs()
  const environments = new Map<number, string>()
  const environmentOf = (pid: number): string => {
    const known = environments.get(pid)
    if (known !== undefined) return known
    const read = process.platform === "linux" ? `\0${readProc(pid, "environ")}` : ""
    environments.set(pid, read)
    return read
  }
  const table: ProcessTable = {
    entries,
    carriers: (assignment) =>
      entries.filter(({ pid }) => environmentOf(pid).includes(`\0${assignment}\0`)).map(({ pid }) => pid)
  }
  latest = { takenAt, table }
}

/** The number the machine gave out last, where it tells. */
export const newestProcess = (): number => Number(readProc("sys", "kernel/ns_last_pid"))

/** How many living processes newer than `pid` carry an assignment; Linux only. */
export const countCarriers = async (assignment: string, pid: number): Promise<number> => {
  if (process.platform !== "linux") return 0
  // Numbers begin anew when all have been used.
  const oldest = newestProcess() < pid ? 0 : pid
  let unsure = numbersInProc().filter((other) => other > oldest)
  let count = 0
  for (let look = 0; look < 4 && unsure.length > 0; look++) {
    if (look > 0) await sleep(1)
    count += unsure.filter((other) => carries(other, assignment)).length
    // A process that is just becoming another program shows no environment for a moment.
    unsure = unsure.filter((other) => readProc(other, "environ") === "" && isProgram(other))
  }
  return count
}

/** The processes that `pid` started and that are still there; Linux only. */
export const childrenOf = (pid: number): ReadonlyArray<number> =>
  readProc(pid, `task/${pid}/children`)
    .split(" ")
    .map(Number)
    .filter((child) => child > 0)

const numbersInProc = (): ReadonlyArray<number> =>
  readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0)

const fromProc = (): ReadonlyArray<ProcessEntry> =>
  numbersInProc()
    .map(readEntry)
    .filter((entry) => entry !== undefined)

const readEntry = (pid: number): ProcessEntry | undefined => {
  const stat = readProc(pid, "stat")
  // The name stands in parentheses and may hold anything, parentheses too.
  const [state, parent, , session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  if (state === undefined || state === "" || state === "Z" || state === "X") return undefined
  return { pid, parent: Number(parent), session: Number(session) }
}

const carries = (pid: number, assignment: string): boolean =>
  `\0${readProc(pid, "environ")}`.includes(`\0${assignment}\0`) && readEntry(pid) !== undefined

// Not one of the kernel's own, which never have an environment, and not one whose environment is for others to read.
const isProgram = (pid: number): boolean => {
  const entry = readEntry(pid)
  return entry !== undefined && pid !== 2 && entry.parent !== 2 && readProc(pid, "cmdline") !== ""
}

// A process may be gone, or another user's: then there is nothing to read.
const readProc = (pid: number | "sys", file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1")
  } catch {
    return ""
  }
}

const fromPs = (): Promise<ReadonlyArray<ProcessEntry>> =>
  new Promise((resolve) => {
    execFile("ps", ["-A", "-o", "pid=,ppid=,pgid=,stat="], (_, stdout) => {
      resolve(
        stdout
          .split("\n")
          .map((line) => line.trim().split(/\s+/))
          .filter(([pid, , , state]) => Number(pid) > 0 && state?.startsWith("Z") === false)
          .map(([pid, parent, group]) => ({ pid: Number(pid), parent: Number(parent), session: Number(group) }))
      )
    })
  })
