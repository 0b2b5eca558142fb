import { readdirSync, readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"

/** Living processes whose command line contains a word. */
export const carrying = (word: string): ReadonlyArray<number> =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => commandLine(pid).includes(word))
    .map(Number)

const commandLine = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ")
  } catch {
    return ""
  }
}

/** Waits until there are none of them; false if that takes too long. */
export const gone = async (word: string): Promise<boolean> => {
  for (let round = 0; round < 1000; round++) {
    if (carrying(word).length === 0) return true
    await sleep(20)
  }
  return false
}

/** Waits until there are so many of them. */
export const appeared = async (word: string, number: number): Promise<void> => {
  while (carrying(word).length < number) await sleep(20)
}

let count = 0
/** A sleep command with a number that no other test uses. */
export const uniqueSleep = (): string => `sleep 9${process.pid}.${++count}`
