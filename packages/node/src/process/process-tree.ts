import { setTimeout as sleep } from "node:timers/promises"

import type { ProcessTree } from "@haft/core"

import { type Moment, type ProcessTable, processTable, someLive } from "./process-table.ts"
import { requiredProgram } from "./system-programs.ts"

/** Between SIGTERM and SIGKILL. Short, so that a time-out is kept whatever the program does. */
export const graceMs = 200

export interface EndOptions {
  /** Time between SIGTERM and SIGKILL; 0 kills at once. */
  readonly graceMs: number
  /** Processes that get no SIGTERM, because their death would cost the others their grace. */
  readonly lastToGo?: ReadonlyArray<number>
  /** Processes that only watch and end by themselves. */
  readonly spared?: ReadonlyArray<number>
  /** A moment before anything of the tree began; with it there is less to look at. */
  readonly since?: Moment | undefined
}

/** SIGKILL is repeated so often at least, and for so long; only a process stuck in the kernel needs that. */
const leastRounds = 20
const giveUpMs = 2000

/** Ends a tree: SIGTERM, a short grace, SIGKILL, until nothing is left. */
export const endTree = async (tree: ProcessTree, options: EndOptions): Promise<void> => {
  if (process.platform === "win32") return endOnWindows(tree.pid)
  const { graceMs, lastToGo = [], spared = [], since } = options
  const members = async (): Promise<ReadonlyArray<number>> =>
    membersOf(tree, await processTable(performance.now()), since).filter((pid) => !spared.includes(pid))
  if (graceMs > 0) {
    let awaited = await members()
    signalAll(
      awaited.filter((pid) => !lastToGo.includes(pid)),
      "SIGTERM"
    )
    const until = performance.now() + graceMs
    for (let pause = 5; awaited.length > 0 && performance.now() < until; pause = Math.min(pause * 1.5, 25)) {
      await sleep(pause)
      // Those who are gone may have left others.
      if (!(await someLive(awaited))) awaited = await members()
    }
  }
  const deadline = performance.now() + giveUpMs
  for (let round = 0; round < leastRounds || performance.now() < deadline; round++) {
    const left = await members()
    if (left.length === 0) return
    signalAll(left, "SIGKILL")
    await sleep(2)
  }
}

/** The members of a tree: descendants, members of their sessions, and whoever carries the mark. */
export const membersOf = (tree: ProcessTree, table: ProcessTable, since: Moment | undefined): ReadonlyArray<number> => {
  const { mark } = tree
  const members = new Set(mark === undefined ? [] : table.carriers(`${mark.name}=${mark.value}`, since))
  members.delete(process.pid)
  // Everything descends from the first process: that is nobody's tree.
  if (tree.pid <= 1) return [...members].filter((pid) => pid > 1)
  const entries = table.entries(since)
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

const endOnWindows = async (pid: number): Promise<void> => {
  const { execFile } = await import("node:child_process")
  return new Promise((resolve) => {
    execFile(requiredProgram("taskkill"), ["/pid", String(pid), "/T", "/F"], () => resolve())
  })
}
