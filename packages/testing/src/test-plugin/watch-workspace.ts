import { createHash } from "node:crypto"
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs"
import { join } from "node:path"

import { Processes, Workspace } from "@haft/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Files and programs that tools have really read and run, to compare with their declared touches. */
export interface Watch {
  readonly reads: Set<string>
  readonly runs: Array<{ readonly program: string; readonly commandLine: string }>
}

/** Services that note in `watch` what is read and run through them. */
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
      snapshot: (path, options) => Effect.andThen(note(path), workspace.snapshot(path, options)),
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

/** Every path below a directory, with a fingerprint of its kind and content. */
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
