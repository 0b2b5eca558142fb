import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import type { TreeLimits } from "@haft/core"

import { descendantsOf } from "./table.ts"

/** Which sums the machine lets this host hold a process tree to. Only root, or who was given a cgroup, can. */
export const sumsHeld = (): { readonly memory: boolean; readonly processes: boolean } => ({
  memory: controllers().has("memory"),
  processes: controllers().has("pids")
})

/** Holds a tree to limits as a sum, as far as the machine allows it. Returns what takes the limits away again. */
export const holdTree = (name: string, root: number, limits: TreeLimits): (() => void) => {
  const groups = [...controllers()].map(([controller, parent]) => {
    const group = join(parent, `haft-${name}`)
    mkdirSync(group)
    for (const [file, value] of settings(controller, limits)) writeFileSync(join(group, file), String(value))
    return group
  })
  for (const pid of descendantsOf(root)) {
    for (const group of groups) writeFileSync(join(group, "cgroup.procs"), String(pid))
  }
  return () => {
    for (const group of groups) removeGroup(group, 20)
  }
}

let found: ReadonlyMap<string, string> | undefined

/** Where groups can be made, by controller. */
const controllers = (): ReadonlyMap<string, string> =>
  (found ??= new Map(
    ["memory", "pids"]
      .map((controller) => [controller, ownGroup(controller)] as const)
      .filter((entry): entry is [string, string] => entry[1] !== undefined && canMakeGroups(entry[0], entry[1]))
  ))

// Version 1 has a hierarchy for each controller. In version 2 a group that holds processes, as the host's own
// does, can't limit its children, so a host there has none to give.
const ownGroup = (controller: string): string | undefined => {
  if (process.platform !== "linux") return undefined
  const line = readFileSync("/proc/self/cgroup", "utf8")
    .split("\n")
    .find((entry) => entry.split(":")[1]?.split(",").includes(controller))
  if (line === undefined) return undefined
  const group = join("/sys/fs/cgroup", controller, line.split(":").slice(2).join(":"))
  return existsSync(group) ? group : undefined
}

const canMakeGroups = (controller: string, parent: string): boolean => {
  const group = join(parent, `haft-probe-${process.pid}`)
  try {
    mkdirSync(group)
    for (const [file] of settings(controller, { memoryBytes: 2 ** 32, processes: 512 })) {
      writeFileSync(join(group, file), readFileSync(join(group, file)))
    }
    rmdirSync(group)
    return true
  } catch {
    return false
  }
}

const settings = (controller: string, limits: TreeLimits): ReadonlyArray<readonly [file: string, value: number]> =>
  controller === "memory" ? [["memory.limit_in_bytes", limits.memoryBytes]] : [["pids.max", limits.processes]]

// The kernel may need a moment after the last process is gone.
const removeGroup = (group: string, tries: number): void => {
  try {
    rmdirSync(group)
  } catch {
    if (tries > 0 && existsSync(group)) setTimeout(removeGroup, 25, group, tries - 1).unref()
  }
}
