import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

import { leftBehind, ownName } from "../owner-tagged-name.ts"
import type { TreeLimits } from "../prepared-launch.ts"

/** A group of processes that the machine holds to limits as a sum: whoever joins it, and all that comes from them. */
export interface LimitedGroup {
  /** Files of the machine: to write 0 into each of them is to join. */
  readonly joinFiles: ReadonlyArray<string>
  readonly hold: (limits: TreeLimits) => void
  /** How many processes are in it. */
  readonly count: () => number
  /** Tests whether files in memory, which outlive their writer, use a good part of the group's memory limit. */
  readonly isClogged: (limits: TreeLimits) => boolean
  /** Once nobody is in it any more; waits a moment for the last to go. */
  readonly remove: () => Promise<void>
}

/** Which sums the machine lets this host hold processes to. Only root, or who was given a cgroup, can. */
export const sumsHeld = (): { readonly memory: boolean; readonly processes: boolean } => {
  const controllers = places().flatMap((place) => place.controllers)
  return { memory: controllers.includes("memory"), processes: controllers.includes("pids") }
}

/** Where groups are made, for who has to clear them away. */
export const groupParents = (): ReadonlyArray<string> => places().map(({ parent }) => parent)

/** Makes a group, or none where the machine does not allow it. Its name begins with `name`. */
export const makeGroup = (name: string): LimitedGroup | undefined => {
  if (places().length === 0) return undefined
  const groups = places().map((place) => ({ place, path: join(place.parent, `${name}.${++count}`) }))
  for (const { path } of groups) mkdirSync(path)
  const [first] = groups
  const memory = groups.find(({ place }) => place.controllers.includes("memory"))
  return {
    joinFiles: groups.map(({ path }) => join(path, "cgroup.procs")),
    hold: (limits) => {
      for (const { place, path } of groups) for (const setting of settingsOf(place, limits)) apply(path, setting)
    },
    count: () => readFileSync(join(first?.path ?? "", "cgroup.procs"), "latin1").split("\n").length - 1,
    isClogged: ({ memoryBytes }) => memory !== undefined && residue(memory.path, memory.place) > memoryBytes / 16,
    remove: async () => {
      for (const { path } of groups) await removeGroup(path)
    }
  }
}

/** The beginning of the names of this process's groups, for those of one owner. */
export const groupName = (owner: string): string => `${ownName("group")}-${owner}`

interface Place {
  readonly version: 1 | 2
  readonly controllers: ReadonlyArray<Controller>
  /** The directory in which groups are made. */
  readonly parent: string
}

type Controller = "memory" | "pids"

const wanted: ReadonlyArray<Controller> = ["memory", "pids"]

let count = 0
let found: ReadonlyArray<Place> | undefined

const places = (): ReadonlyArray<Place> => (found ??= process.platform === "linux" ? findPlaces() : [])

/** Looks for places where groups can be made: beside the host's own group, or above it. */
export const findPlaces = (
  mounts = "/sys/fs/cgroup",
  own = readFileSync("/proc/self/cgroup", "utf8"),
  works: (place: Place) => boolean = canMakeGroups
): ReadonlyArray<Place> => {
  const lines = own.split("\n").map((line) => ({ names: line.split(":")[1], path: line.split(":").slice(2).join(":") }))
  const firstVersion = wanted.flatMap((controller): ReadonlyArray<Place> => {
    const line = lines.find(({ names }) => names?.split(",").includes(controller))
    const parent = resolve(mounts, controller, `.${line?.path ?? ""}`)
    return line !== undefined && existsSync(parent) ? [{ version: 1, controllers: [controller], parent }] : []
  })
  const unified = lines.find(({ names }) => names === "")
  const above = unified === undefined ? [] : aboveInSecond(mounts, resolve(mounts, `.${unified.path}`))
  const secondVersion = above.find(works)
  return [...firstVersion.filter(works), ...(secondVersion === undefined ? [] : [secondVersion])]
}

// In version 2 a group with processes in it, as the host's own is, gives its children no limits. One above it may:
// a service manager's slice that is the user's own, or for root any.
const aboveInSecond = (top: string, from: string): ReadonlyArray<Place> => {
  const rest = from.length > top.length ? aboveInSecond(top, dirname(from)) : []
  const control = join(from, "cgroup.subtree_control")
  const given = existsSync(control) ? readFileSync(control, "utf8").trim().split(" ") : []
  const controllers = wanted.filter((controller) => given.includes(controller))
  return controllers.length === 0 ? rest : [{ version: 2, controllers, parent: from }, ...rest]
}

const canMakeGroups = (place: Place): boolean => {
  try {
    for (const name of leftBehind(place.parent, "group")) removeEmpty(join(place.parent, name))
    const group = join(place.parent, ownName("group"))
    mkdirSync(group)
    for (const setting of settingsOf(place, { memoryBytes: 2 ** 32, processes: 512 })) apply(group, setting)
    rmdirSync(group)
    return true
  } catch {
    return false
  }
}

interface Setting {
  readonly file: string
  readonly value: number
  /** Not every machine counts swapped memory, and then there is nothing to limit. */
  readonly ifThere?: boolean
}

const settingsOf = ({ version, controllers }: Place, limits: TreeLimits): ReadonlyArray<Setting> =>
  controllers.flatMap((controller): ReadonlyArray<Setting> => {
    const memory = limits.memoryBytes
    if (controller === "pids") return [{ file: "pids.max", value: limits.processes }]
    return version === 1
      ? [{ file: "memory.limit_in_bytes", value: memory }]
      : [
          { file: "memory.max", value: memory },
          { file: "memory.swap.max", value: 0, ifThere: true }
        ]
  })

const apply = (group: string, { file, value, ifThere = false }: Setting): void => {
  const path = join(group, file)
  if (!ifThere || existsSync(path)) writeFileSync(path, String(value))
}

/** Bytes of a group's memory that are files in memory. */
const residue = (path: string, { version }: Place): number => {
  const used = Number(readFileSync(join(path, version === 1 ? "memory.usage_in_bytes" : "memory.current"), "latin1"))
  if (used < 2 ** 24) return 0
  return Number(/^shmem (\d+)$/m.exec(readFileSync(join(path, "memory.stat"), "latin1"))?.[1] ?? 0)
}

// The kernel may need a moment after the last process is gone.
const removeGroup = async (path: string): Promise<void> => {
  for (let tries = 0; tries < 40 && !removeEmpty(path); tries++) await sleep(25, undefined, { ref: false })
}

const removeEmpty = (path: string): boolean => {
  try {
    rmdirSync(path)
    return true
  } catch {
    return !existsSync(path)
  }
}
