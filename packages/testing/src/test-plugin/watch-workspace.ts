import { createHash } from "node:crypto"
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

import { Processes, Workspace } from "@haft/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** What tools did through the services, whether they had said so or not. */
export interface Watch {
  readonly reads: Set<string>
  readonly runs: Array<{ readonly program: string; readonly commandLine: string }>
}

/** The same services, under watch. */
export const watched = <R, E>(services: Layer.Layer<R, E>, watch: Watch): Layer.Layer<R, E> => {
  const under = Effect.map(Effect.context<R>(), (context) => {
    const workspace = Context.getUnsafe(context, Workspace)
    const note = (path: string) =>
      Effect.matchEffect(workspace.contain(path), {
        onSuccess: (contained) => Effect.sync(() => watch.reads.add(contained)),
        onFailure: () => Effect.void
      })
    const withWorkspace = Context.add(context, Workspace, {
      ...workspace,
      read: (path, options) => Effect.andThen(note(path), workspace.read(path, options)),
      scan: (path, ...how) => Effect.andThen(note(path), workspace.scan(path, ...how))
    }) as Context.Context<R>
    const processes = Context.getOrUndefined(context, Processes)
    if (processes === undefined) return withWorkspace
    return Context.add(withWorkspace, Processes, {
      ...processes,
      run: (command, options) => {
        watch.runs.push({ program: command.program, commandLine: [command.program, ...command.args].join(" ") })
        return processes.run(command, options)
      }
    })
  })
  return Layer.effectContext(under).pipe(Layer.provide(services))
}

/** Every file below a directory, with a fingerprint of what it is. */
export const snapshot = (directory: string): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  const walk = (relative: string): void => {
    for (const entry of readdirSync(join(directory, relative), { withFileTypes: true })) {
      const path = relative === "" ? entry.name : `${relative}/${entry.name}`
      found.set(path, stateOf(join(directory, path)))
      if (entry.isDirectory()) walk(path)
    }
  }
  walk("")
  return found
}

const stateOf = (file: string): string => {
  const info = lstatSync(file)
  if (info.isSymbolicLink()) return `link ${readlinkSync(file)}`
  if (info.isDirectory()) return "directory"
  return `${info.mode} ${createHash("sha256").update(readFileSync(file)).digest("hex")}`
}

/** Paths whose state differs. */
export const changedBetween = (
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>
): ReadonlyArray<string> =>
  [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path)).toSorted()

/** Processes and open files that have to do with a directory. Empty where there is no /proc to look at. */
export const attached = (directory: string): ReadonlyArray<string> => [
  ...new Set([...openFiles(directory), ...processesIn(directory)])
]

/** What is attached to a directory and was not before. What was told to end may take a moment to be gone. */
export const leftovers = async (
  directory: string,
  before: ReadonlyArray<string> = []
): Promise<ReadonlyArray<string>> => {
  for (let tries = 0; ; tries++) {
    const found = attached(directory).filter((one) => !before.includes(one))
    if (found.length === 0 || tries === 20) return found
    await sleep(50)
  }
}

const openFiles = (directory: string): ReadonlyArray<string> =>
  entriesOf("/proc/self/fd")
    .map((fd) => linkOf(`/proc/self/fd/${fd}`))
    .filter((target) => target.startsWith(directory))
    .map((target) => `an open descriptor of ${target.slice(directory.length + 1)}`)

const processesIn = (directory: string): ReadonlyArray<string> =>
  entriesOf("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => linkOf(`/proc/${pid}/cwd`).startsWith(directory))
    .map((pid) => `process ${pid}: ${contentOf(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim().slice(0, 100)}`)

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
