import { readFileSync } from "node:fs"

/** Fields of `/proc/PID/stat` from the state on; undefined where the process is gone. Linux only. */
export const statOf = (pid: number): ReadonlyArray<string> => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    // The name comes before, in parentheses, and may hold anything, parentheses too.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  } catch {
    return []
  }
}

/** When a process started, in ticks since the machine did; undefined where that can't be told. */
export const startOf = (pid: number): string | undefined => statOf(pid)[19]
