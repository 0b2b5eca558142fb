import { execFile } from "node:child_process"
import { setTimeout as sleep } from "node:timers/promises"

import type { ProcessTree } from "@haft/core"

import { carriersOf, listProcesses } from "./table.ts"

export interface EndOptions {
  /** Time between SIGTERM and SIGKILL; 0 kills at once. */
  readonly graceMs: number
  /** Processes that get no SIGTERM, because their death would cost the others their grace. */
  readonly lastToGo?: ReadonlyArray<number>
  /** Processes that only watch and end by themselves. */
  readonly spared?: ReadonlyArray<number>
}

/** How long the end of a process that was killed is waited for. Only one stuck in the kernel needs it. */
const giveUpMs = 2000

/** Ends a tree: SIGTERM, a short grace, SIGKILL, until nothing is left. */
export const endTree = async (tree: ProcessTree, options: EndOptions): Promise<void> => {
  if (process.platform === "win32") return endOnWindows(tree.pid)
  const { graceMs, lastToGo = [], spared = [] } = options
  const members = async (): Promise<ReadonlyArray<number>> =>
    (await membersOf(tree)).filter((pid) => !spared.includes(pid))
  if (graceMs > 0) {
    // Who leaves the tree on the way, by starting a session of its own, is still on the list.
    const asked = (await members()).filter((pid) => !lastToGo.includes(pid))
    signalAll(asked, "SIGTERM")
    const deadline = performance.now() + graceMs
    let left = await members()
    while (left.length > 0 && performance.now() < deadline) {
      await sleep(5)
      left = await members()
    }
  }
  const deadline = performance.now() + giveUpMs
  for (;;) {
    const left = await members()
    if (left.length === 0 || performance.now() > deadline) return
    signalAll(left, "SIGKILL")
    await sleep(2)
  }
}

/** The living members of a tree: descendants, members of their sessions, and whoever carries the mark. */
const membersOf = async (tree: ProcessTree): Promise<ReadonlyArray<number>> => {
  const entries = await listProcesses()
  const members = new Set([
    ...entries.filter(({ pid }) => pid === tree.pid && pid > 1).map(({ pid }) => pid),
    ...(tree.mark === undefined ? [] : carriersOf(`${tree.mark.name}=${tree.mark.value}\0`))
  ])
  // Everything descends from the first process: that is nobody's tree.
  if (tree.pid <= 1) return [...members].filter((pid) => pid > 1 && pid !== process.pid)
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
