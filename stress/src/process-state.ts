import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"

/** Resources of this process. */
export interface ProcessState {
  readonly descriptors: number
  readonly children: number
  readonly rssMegabytes: number
}

/** Resources that this process still holds after garbage collection, and after children have had a moment to end. */
export const settledState = async (): Promise<ProcessState> => {
  for (let turn = 0; turn < 5; turn++) {
    globalThis.gc?.()
    await sleep(50)
  }
  return stateNow()
}

const stateNow = (): ProcessState => ({
  descriptors: readdirSync("/proc/self/fd").length,
  children: childrenOf(process.pid).length,
  rssMegabytes: process.memoryUsage.rss() / 1024 ** 2
})

/** The child processes of a process. */
const childrenOf = (parent: number): ReadonlyArray<string> =>
  processes().filter((pid) => Number(contentOf(`/proc/${pid}/stat`).split(") ")[1]?.split(" ")[1]) === parent)

/** Processes that work in a directory, or below it. */
export const processesIn = (directory: string): ReadonlyArray<string> =>
  processes().filter((pid) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`).startsWith(directory)
    } catch {
      return false
    }
  })

/** The files and sockets of all open descriptors, to see what leaked. */
export const descriptorTargets = (): ReadonlyArray<string> =>
  readdirSync("/proc/self/fd").map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      return ""
    }
  })

const processes = (): ReadonlyArray<string> => readdirSync("/proc").filter((name) => /^\d+$/.test(name))

const contentOf = (path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}
