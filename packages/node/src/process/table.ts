import { execFile } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"

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

/**
 * Every living process, as of `notBefore` or later. Looking takes milliseconds, and when many programs are ended at
 * a time all of them look: they share what was seen. Zombies are not alive: they wait for a parent to notice.
 */
export const processTable = async (notBefore: number): Promise<ProcessTable> => {
  if (latest !== undefined && latest.takenAt >= notBefore) return latest.table
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
  return table
}

/** How many living processes newer than `pid` carry an assignment; Linux only. */
export const countCarriers = (assignment: string, pid: number): number =>
  process.platform === "linux" ? numbersInProc().filter((other) => other > pid && carries(other, assignment)).length : 0

/** The processes that `pid` started and that are still there; Linux only. */
export const childrenOf = (pid: number): ReadonlyArray<number> =>
  readProc(pid, `task/${pid}/children`)
    .split(" ")
    .map(Number)
    .filter((child) => child > 0)

/** Those, and theirs, and so on. */
export const descendantsOf = (pid: number): ReadonlyArray<number> =>
  childrenOf(pid).flatMap((child) => [child].concat(descendantsOf(child)))

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

// A process may be gone, or another user's: then there is nothing to read.
const readProc = (pid: number, file: string): string => {
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
