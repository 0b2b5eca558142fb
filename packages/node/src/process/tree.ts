import { execFile } from "node:child_process"
import { setTimeout as sleep } from "node:timers/promises"

import type { ProcessTree } from "@haft/core"

import { type ProcessTable, processTable } from "./table.ts"

export interface EndOptions {
  /** Time between SIGTERM and SIGKILL; 0 kills at once. */
  readonly graceMs: number
  /** Processes that get no SIGTERM, because their death would cost the others their grace. */
  readonly lastToGo?: ReadonlyArray<number>
  /** Processes that only watch and end by themselves. */
  readonly spared?: ReadonlyArray<number>
}

/** SIGKILL is repeated so often at least, and for so long; only a process stuck in the kernel needs that. */
const leastRounds = 20
const giveUpMs = 2000

/** Ends a tree: SIGTERM, a short grace, SIGKILL, until nothing is left. */
export const endTree = async (tree: ProcessTree, options: EndOptions): Promise<void> => {
  if (process.platform === "win32") return endOnWindows(tree.pid)
  const { graceMs, lastToGo = [], spared = [] } = options
  const members = async (notBefore: number): Promise<ReadonlyArray<number>> =>
    membersOf(tree, await processTable(notBefore)).filter((pid) => !spared.includes(pid))
  if (graceMs > 0) {
    const asked = await members(performance.now())
    signalAll(
      asked.filter((pid) => !lastToGo.includes(pid)),
      "SIGTERM"
    )
    const signalledAt = performance.now()
    while ((await members(signalledAt)).length > 0 && performance.now() < signalledAt + graceMs) await sleep(5)
  }
  const deadline = performance.now() + giveUpMs
  let notBefore = performance.now()
  for (let round = 0; round < leastRounds || performance.now() < deadline; round++) {
    const left = await members(notBefore)
    if (left.length === 0) return
    signalAll(left, "SIGKILL")
    notBefore = performance.now()
    await sleep(2)
  }
}

/** The members of a tree: descendants, members of their sessions, and whoever carries the mark. */
const membersOf = (tree: ProcessTree, { entries, carriers }: ProcessTable): ReadonlyArray<number> => {
  const members = new Set(tree.mark === undefined ? [] : carriers(`${tree.mark.name}=${tree.mark.value}`))
  members.delete(process.pid)
  // Everything descends from the first process: that is nobody's tree.
  if (tree.pid <= 1) return [...members].filter((pid) => pid > 1)
  if (entries.some(({ pid }) => pid === tree.pid)) members.add(tree.pid)
  const sessions = new Set([tree.pid])
  let size: number
  do {
    size = members.size
    for (const { pid, parent, session } of entries) {
      if (members.has(parent) || parent === tree.pid || sessions.has(session)) members.add(pid)
      if (members.has(pid) && session === pid) sessions.add(session)
    }
  } while (members.size > size)
  members.delete(process.pid)
  return [...members]
}

const signalAll = (pids: ReadonlyArray<number>, signal: NodeJS.Signals): void => {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {
      // It ended by itself meanwhile.
    }
  }
}

const endOnWindows = (pid: number): Promise<void> =>
  new Promise((resolve) => {
    execFile("taskkill", ["/pid", String(pid), "/T", "/F"], () => resolve())
  })
