import { type Dirent, lstatSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

import {
  reasonOf,
  type ChangePlan,
  type CommandEffects,
  type ControlFileChange,
  type Overlay,
  type PlanError,
  toolError,
  type ToolError,
  type WorkspaceService
} from "@haft/core"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

import { onApproved } from "../../control-files/approved-changes.ts"
import { Quarantine } from "../../control-files/quarantine.ts"
import type { ScannedRoot } from "../../control-files/snapshot.ts"
import { overlayMount } from "../../embedded-scripts.ts"
import { requiredProgram, systemProgram } from "../../process/system-programs.ts"
import { stateDirectory } from "../../state/state-directory.ts"
import { NodePlan } from "../../workspace/commit/plan.ts"
import { chooseTechnique } from "../../workspace/paths/handles.ts"
import { openSharedRoot, rootIdentity } from "../../workspace/paths/open-roots.ts"
import { type ControlChange, controlChanges } from "./control-changes.ts"
import { ignoredPaths } from "./ignored-paths.ts"
import { planUpper } from "./plan-upper.ts"
import { dropLeftBehind, makeScratch, type OverlaidRoot, type OverlayScratch, scratchBase } from "./scratch.ts"
import { readUpper, type UpperRequest, type UpperScanner } from "./upper-scanner.ts"
import type { Upper } from "./upper.ts"

export interface OverlaySettings {
  readonly workspace: WorkspaceService
  /** The host's state directory; the workspace's usual one when absent. */
  readonly state: string | undefined
}

/** The word that overlay-mount.pl replaces by device:inode of the overlay that it mounted. */
export const overlayIdentity = "haft:overlay-identity"

/** Prefix that starts a program with an overlay mounted over the workspace; `options` begin with a comma. */
export const mountWords = (
  root: string,
  { upper, work }: Pick<OverlayScratch, "upper" | "work">,
  options: string
): ReadonlyArray<string> => {
  const perl = [requiredProgram("perl"), "-e", overlayMount, "--"]
  return [...perl, process.arch, root, rootIdentity(root) ?? "", upper, work, options]
}

/**
 * The kernel writes nothing of a command's overlay to disk by itself, neither when it copies a file nor at the end: after a
 * crash the overlay is dropped, and a commit sees to its files.
 */
const mountOptions = ",volatile"

/** An overlay on this machine: directories that a command's sandbox mounts over the workspace. */
export class NodeOverlay implements Overlay {
  readonly #settings: OverlaySettings
  readonly #scratch: OverlayScratch
  readonly #committed: ReadonlySet<string>
  readonly #read: UpperScanner["read"]

  constructor(
    settings: OverlaySettings,
    scratch: OverlayScratch,
    { committed = nothing, read = readUpper }: NodeOverlayOptions = {}
  ) {
    this.#settings = settings
    this.#scratch = scratch
    this.#committed = committed
    this.#read = read
  }

  /** Prefix that starts a program with the overlay in the place of the workspace. */
  get words(): ReadonlyArray<string> {
    return mountWords(this.#settings.workspace.root, this.#scratch, mountOptions)
  }

  /** Contents of the overlay's upper directory, as the kernel left them. */
  get listing(): Effect.Effect<Upper, ToolError<"sandbox_error">> {
    return this.#read(this.#request("keep"))
  }

  #request(attributes: UpperRequest["attributes"]): UpperRequest {
    return { upper: this.#scratch.upper, lower: this.#settings.workspace.root, attributes }
  }

  readonly effects: Effect.Effect<CommandEffects, ToolError<"sandbox_error">> = Effect.suspend(() => {
    // A command that changed nothing costs no look at it.
    if (readdirSync(this.#scratch.upper).length === 0) return Effect.succeed(noEffects)
    return Effect.flatMap(this.#read(this.#request("strip")), (upper) => this.effectsOf(upper))
  })

  /** Changes of the workspace in an overlay, by a listing of it. */
  readonly effectsOf = (upper: Upper): Effect.Effect<CommandEffects> =>
    upper.entries.length === 0 && upper.leftOut.length === 0
      ? Effect.succeed(noEffects)
      : Effect.map(
          this.#withLayers((lower, above) =>
            controlChanges({ root: this.#settings.workspace.root, lower, upper: above, entries: upper.entries })
          ),
          (changes) => this.#effectsOf(upper, changes)
        )

  #effectsOf(listed: Upper, found: ReadonlyArray<ControlChange>): CommandEffects {
    const { root } = this.#settings.workspace
    const { name } = overlaidRoot(this.#settings.workspace)
    const named = <A extends { readonly path: string }>(one: A): A =>
      name === "" ? one : { ...one, path: `${name}/${one.path}` }
    const isIgnoredBelow = ignoredPaths(root, this.#scratch.upper)
    const split = listed.linked.filter((path) => !isIgnoredBelow(path))
    const leftOut = [
      ...listed.leftOut,
      ...split.map((path) => ({ path, reason: "its other names keep the old content" }))
    ]
    const changes = found.map(named)
    const toPlan = {
      directory: this.#scratch.files,
      entries: listed.entries.map(named),
      since: this.#scratch.since,
      committed: this.#committed,
      fingerprints: new Map<string, string>()
    }
    return {
      leftOut: leftOut.map(named),
      controlFiles: changes.map(({ path, reason, isRecordedOnly }) => ({ path, reason, isRecordedOnly })),
      plan: (plan: ChangePlan, except: ReadonlySet<string> = nothing): Effect.Effect<void, PlanError> =>
        plan instanceof NodePlan
          ? planUpper(plan, toPlan, except)
          : Effect.die(new Error("an overlay is committed to the workspace that it was opened on")),
      quarantine: (paths) => this.#quarantine(changes.filter(({ path }) => paths.has(path))),
      isIgnored: (path, isDirectory) => isIgnoredBelow(name === "" ? path : path.slice(name.length + 1), isDirectory)
    }
  }

  #quarantine(changes: ReadonlyArray<ControlChange>): Effect.Effect<ReadonlyArray<ControlFileChange>> {
    if (changes.length === 0) return Effect.succeed([])
    const { workspace, state } = this.#settings
    return this.#withLayers(async (_lower, upper) => {
      const parent = join(stateDirectory({ root: workspace.root, ...(state !== undefined && { state }) }), "quarantine")
      const quarantine = new Quarantine(upper, parent)
      const moved = changes.map(({ path, reason, file }): ControlFileChange => {
        if (file === undefined) return { path, reason, quarantine: quarantine.directory }
        return { path, reason, quarantine: quarantine.take(file, undefined) }
      })
      quarantine.record(moved.filter((_, index) => changes[index]?.file !== undefined))
      return moved
    })
  }

  #withLayers<A>(use: (lower: ScannedRoot, upper: ScannedRoot) => Promise<A>): Effect.Effect<A> {
    const open = Effect.sync(() => {
      const lower = openSharedRoot(this.#settings.workspace.root)
      const technique = chooseTechnique(this.#scratch.upper)
      return { lower, upper: { technique, held: technique.holdRoot(this.#scratch.upper) } }
    })
    return Effect.acquireUseRelease(
      open,
      ({ lower, upper }) => Effect.promise(() => use(lower, upper)),
      ({ lower, upper }) =>
        Effect.sync(() => {
          upper.held.close()
          lower.close()
        })
    )
  }
}

export interface NodeOverlayOptions {
  /** Paths that commits of this host have changed since the overlay was opened. */
  readonly committed?: ReadonlySet<string>
  /** Lists the upper directory; a process of its own does that by default. */
  readonly read?: UpperScanner["read"]
}

/** The root that commands write to: the first one. The others are read-only for them. */
const overlaidRoot = ({ root, roots }: WorkspaceService): OverlaidRoot => ({ path: root, name: roots[0]?.name ?? "" })

const nothing: ReadonlySet<string> = new Set()

const noEffects: CommandEffects = {
  plan: () => Effect.void,
  controlFiles: [],
  quarantine: () => Effect.succeed([]),
  leftOut: [],
  isIgnored: () => false
}

/** Opens overlays of a workspace, each for as long as its scope. The first one drops those of hosts that died. */
export const overlaysOf = (
  settings: OverlaySettings,
  { prepare, read }: UpperScanner,
  remove: (scratch: OverlayScratch) => void
): Effect.Effect<NodeOverlay, ToolError<"sandbox_error">, Scope.Scope> => {
  let base: string | undefined
  const prepared = Effect.suspend((): Effect.Effect<string, ToolError<"sandbox_error">> => {
    if (base !== undefined) return Effect.succeed(base)
    const { root } = settings.workspace
    try {
      base = scratchBase(root, settings.state, "overlays")
      const dropped = dropLeftBehind(base)
      return dropped === 0
        ? Effect.succeed(base)
        : Effect.as(Effect.logWarning(droppedRemark(dropped, root), { dropped }), base)
    } catch (cause) {
      return notMade(cause)
    }
  })
  return Effect.flatMap(prepared, (directory) =>
    Effect.map(
      Effect.acquireRelease(
        Effect.suspend(() => openOne(settings, directory)),
        ({ scratch, stop }) =>
          Effect.sync(() => {
            stop()
            remove(scratch)
          })
      ),
      ({ scratch, committed }) => new NodeOverlay(settings, scratch, { committed, read })
    ).pipe(Effect.tap(prepare))
  )
}

const droppedRemark = (count: number, root: string): string =>
  `dropped what ${count === 1 ? "a command" : `${count} commands`} had changed in ${root} when a host died; nothing of it was committed`

interface OpenedOverlay {
  readonly scratch: OverlayScratch
  /** Paths that commits of this host have changed since. */
  readonly committed: ReadonlySet<string>
  readonly stop: () => void
}

const openOne = (
  { workspace }: OverlaySettings,
  base: string
): Effect.Effect<OpenedOverlay, ToolError<"sandbox_error">> => {
  try {
    const committed = new Set<string>()
    const overlaid = overlaidRoot(workspace)
    const scratch = makeScratch(overlaid, base)
    const stop = onApproved(workspace.root, (changes) =>
      changes.forEach(({ path }) => committed.add(overlaid.name === "" ? path : `${overlaid.name}/${path}`))
    )
    return Effect.succeed({ scratch, committed, stop })
  } catch (cause) {
    return notMade(cause)
  }
}

const notMade = (cause: unknown): Effect.Effect<never, ToolError<"sandbox_error">> =>
  toolError("sandbox_error", `the directory of an overlay could not be made: ${reasonOf(cause)}`)

/** Why a workspace can't have overlays on this machine, as far as that shows without trying; undefined where it may. */
export const whyNoOverlay = ({ root, roots }: WorkspaceService): string | undefined => {
  if (process.platform !== "linux") return "only Linux has overlays"
  if (systemProgram("perl") === undefined) return "perl is not installed"
  if (roots[0]?.access === "read") return "the workspace's first root is read-only"
  const foreign = process.getuid?.() === 0 ? undefined : unmappedFile(root)
  if (foreign !== undefined) return `${foreign} belongs to a user or a group that the sandbox does not map`
  const inside = mountPoints().find((point) => point.startsWith(`${root}/`))
  return inside === undefined ? undefined : `another file system is mounted in the workspace, at ${inside}`
}

/** Entries that are looked at before the first command. */
const mostLookedAt = 20_000

/**
 * The first entry below a directory that belongs to another user or group than this process. Whoever is not root maps no
 * other into a user namespace, and the kernel then refuses to copy such a file into an overlay.
 */
const unmappedFile = (root: string): string | undefined => {
  const [uid, gid] = [process.getuid?.(), process.getgid?.()]
  const pending = [root]
  for (let count = 0; count < mostLookedAt;) {
    const directory = pending.pop()
    if (directory === undefined) return undefined
    for (const entry of entriesOf(directory)) {
      const path = join(directory, entry.name)
      const found = lstatSync(path, { throwIfNoEntry: false })
      if (found !== undefined && (found.uid !== uid || found.gid !== gid)) return path.slice(root.length + 1)
      if (entry.isDirectory()) pending.push(path)
      count++
    }
  }
  return undefined
}

const entriesOf = (directory: string): ReadonlyArray<Dirent> => {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch {
    return []
  }
}

const mountPoints = (): ReadonlyArray<string> =>
  readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .map((line) =>
      (line.split(" ")[4] ?? "").replaceAll(/\\([0-7]{3})/g, (_, code: string) =>
        String.fromCodePoint(Number.parseInt(code, 8))
      )
    )
