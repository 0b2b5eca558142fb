import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"

/** Processes that work in a directory, and open files in it. Empty on systems without /proc. */
export const attached = (directory: string): ReadonlyArray<string> => [
  ...new Set([
    ...openFiles()
      .filter((target) => target.startsWith(directory))
      .map((target) => `an open descriptor of ${target.slice(directory.length + 1)}`),
    ...processesIn(directory)
  ])
]

/** Other resources of this process: open files elsewhere, child processes, and what keeps it from exiting. */
export const heldBesides = (directory: string): ReadonlyArray<string> =>
  numbered([
    ...openFiles()
      .filter((target) => !target.startsWith(directory))
      .map((target) => `an open descriptor of ${target}`),
    ...children(),
    ...process.getActiveResourcesInfo().flatMap((kind) => lasting[kind] ?? [])
  ])

/** Findings of `look` that were not there before. They get a second to go away, as ending takes a moment. */
export const leftovers = async (
  look: () => ReadonlyArray<string>,
  before: ReadonlyArray<string> = []
): Promise<ReadonlyArray<string>> => {
  for (let tries = 0; ; tries++) {
    const found = look().filter((one) => !before.includes(one))
    if (found.length === 0 || tries === 20) return found
    await sleep(50)
  }
}

/** The kinds of Node's active resources that a tool may have forgotten to close. */
const lasting: Readonly<Record<string, string>> = {
  Timeout: "a timer that keeps the process from ending",
  TCPServerWrap: "a server that keeps the process from ending",
  FSEventWrap: "a watched file that keeps the process from ending",
  StatWatcher: "a watched file that keeps the process from ending",
  Worker: "a worker that keeps the process from ending"
}

// Numbers equal entries, so that a second timer is not mistaken for the one that was there before.
const numbered = (kinds: ReadonlyArray<string>): ReadonlyArray<string> => {
  const counts = new Map<string, number>()
  return kinds.map((kind) => {
    const count = (counts.get(kind) ?? 0) + 1
    counts.set(kind, count)
    return count === 1 ? kind : `${kind} (${count})`
  })
}

const openFiles = (): ReadonlyArray<string> =>
  entriesOf("/proc/self/fd")
    .map((fd) => linkOf(`/proc/self/fd/${fd}`))
    .filter((target) => target.startsWith("/") && !/^\/(?:dev|proc|memfd:)/.test(target))

const processes = (): ReadonlyArray<string> => entriesOf("/proc").filter((name) => /^\d+$/.test(name))

const processesIn = (directory: string): ReadonlyArray<string> =>
  processes()
    .filter((pid) => Number(pid) !== process.pid && linkOf(`/proc/${pid}/cwd`).startsWith(directory))
    .map(describe)

const children = (): ReadonlyArray<string> => processes().filter(isChild).map(describe)

// In /proc/PID/stat the state and the parent follow the name, which ends with the last `)`. Zombies don't count: they
// have ended, and Node will collect them.
const isChild = (pid: string): boolean => {
  const [state, parent] = contentOf(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ") ?? []
  return Number(parent) === process.pid && state !== "Z"
}

const describe = (pid: string): string =>
  `process ${pid}: ${contentOf(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim().slice(0, 100)}`

const quietly = <A>(look: () => A, otherwise: A): A => {
  try {
    return look()
  } catch {
    return otherwise
  }
}
const entriesOf = (directory: string): ReadonlyArray<string> => quietly(() => readdirSync(directory), [])
const linkOf = (path: string): string => quietly(() => readlinkSync(path), "")
const contentOf = (path: string): string => quietly(() => readFileSync(path, "utf8"), "")
