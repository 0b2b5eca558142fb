import { readFileSync } from "node:fs"

import type { ProcessTree } from "@haft/core"

import { type Moment, processTable } from "./process-table.ts"
import { membersOf } from "./process-tree.ts"

/**
 * True when a TCP port is listened on in a network that a process of the tree sees. A sandbox has a loopback of its own,
 * which the host can't connect to, so the kernel's table of sockets is read instead.
 */
export const treeListensOn = async (tree: ProcessTree, port: number, since: Moment): Promise<boolean> => {
  if (process.platform !== "linux") return accepts(port)
  const members = membersOf(tree, await processTable(performance.now()), since)
  return members.some((pid) => ["tcp", "tcp6"].some((table) => listens(`/proc/${pid}/net/${table}`, port)))
}

/** State of a socket that listens, as the kernel writes it. */
const listening = "0A"

const listens = (table: string, port: number): boolean => {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`
  return readTable(table)
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .some(([, local = "", , state]) => state === listening && local.endsWith(suffix))
}

// A process may be gone, and some systems have no IPv6.
const readTable = (path: string): string => {
  try {
    return readFileSync(path, "latin1")
  } catch {
    return ""
  }
}

const accepts = async (port: number): Promise<boolean> => {
  const { connect } = await import("node:net")
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port, timeout: 1000 })
    const finish = (isOpen: boolean) => () => {
      socket.destroy()
      resolve(isOpen)
    }
    socket.once("connect", finish(true)).once("error", finish(false)).once("timeout", finish(false))
  })
}
