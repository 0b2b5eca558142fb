import { randomBytes } from "node:crypto"
import { readdirSync, readlinkSync, rmSync } from "node:fs"

import { startOf } from "./proc-stat.ts"

/** A name that says which process made what it stands for, so that it can be told when that process is gone. */
export const ownName = (kind: string): string => `haft-${kind}-${identity()}-${randomBytes(4).toString("hex")}`

/** Names of things in `directory` that processes made that are gone now. */
export const leftBehind = (directory: string, kind: string): ReadonlyArray<string> => {
  const [namespace] = identity().split("-")
  return readdirSync(directory).filter((name) => {
    const [, kindOfIt, itsNamespace, pid, start] = name.split("-")
    if (!name.startsWith("haft-") || kindOfIt !== kind || start === undefined) return false
    // An owner with other process numbers, in a container for one, may well be alive.
    return itsNamespace === namespace && startOf(Number(pid)) !== start
  })
}

/** Removes what a process left behind, if this user may. */
export const removeQuietly = (path: string): void => {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch {
    // Somebody else's.
  }
}

let known: string | undefined

/** Namespace of process numbers, number, and moment of its start: together they never come again on a machine. */
const identity = (): string => (known ??= `${namespaceNumber()}-${process.pid}-${startOf(process.pid) ?? "0"}`)

const namespaceNumber = (): string => {
  try {
    return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0"
  } catch {
    return "0"
  }
}
