import { createHash } from "node:crypto"
import { lstatSync, readlinkSync } from "node:fs"
import { join } from "node:path"

import {
  type ChangePlan,
  type CommandEffects,
  type LookError,
  makeToolError,
  type PlanError,
  type ToolError,
  type WorkspaceService
} from "@haft/core"
import * as Effect from "effect/Effect"

import { attempt, planCodes } from "../errno.ts"
import { NodeOverlay } from "../sandbox/overlay/overlay.ts"
import { fingerprintInSlices } from "../sandbox/overlay/plan-upper.ts"
import { readUpper } from "../sandbox/overlay/upper-scanner.ts"
import type { UpperEntry } from "../sandbox/overlay/upper.ts"
import { NodePlan } from "../workspace/commit/plan.ts"
import { contentState, type DirectoryNode, modeOf, type Node, type View } from "../workspace/commit/planned-tree.ts"
import { type BaseStates, type Branch, endSession, readBases, sessionStart } from "./branch-store.ts"

/** Which side of a conflict counts; `refuse` merges nothing. */
export type ConflictChoice = "refuse" | "branch" | "workspace"

/** Changes of a branch, and those of them that the workspace has changed, too. */
export interface BranchEffects extends CommandEffects {
  /** Paths that differ from what the branch saw, on both sides and not alike. */
  readonly conflicts: Effect.Effect<ReadonlyArray<string>, PlanError>
  /** Of everything that the branch holds. */
  readonly fingerprint: Effect.Effect<string>
}

export interface BranchEffectsOptions {
  readonly workspace: WorkspaceService
  /** The workspace's state directory. */
  readonly state: string
  /** A merge takes files over and strips them of the overlay's own attributes; a diff leaves them alone. */
  readonly isMerge: boolean
  readonly onConflict?: ConflictChoice
}

/** Reads what a branch changed. Nobody else may work on it meanwhile. */
export const branchEffects = Effect.fnUntraced(function* (
  branch: Branch,
  { workspace, state, isMerge, onConflict = "refuse" }: BranchEffectsOptions
): Effect.fn.Return<BranchEffects, PlanError | ToolError<"sandbox_error">> {
  const upper = yield* readUpper({
    upper: branch.upper,
    lower: workspace.root,
    attributes: isMerge ? "strip" : "keep"
  })
  const bases = yield* settle(branch, workspace, upper.entries)
  const { directory, upper: files, work } = branch
  const scratch = { directory, files, upper: files, work, since: Infinity }
  const effects = yield* new NodeOverlay({ workspace, state }, scratch).effectsOf(upper)
  const own = ownStates(branch)
  const compared = (plan: NodePlan) => compare(plan, upper.entries, { bases, own })
  return {
    ...effects,
    fingerprint: Effect.gen(function* () {
      const hash = createHash("sha256")
      for (const entry of upper.entries) hash.update(`${entry.path}\0${entry.isOpaque} ${yield* own(entry)}\0`)
      return hash.digest("hex")
    }),
    conflicts: Effect.flatMap(nodePlan(workspace), (plan) => Effect.map(compared(plan), ({ conflicts }) => conflicts)),
    plan: Effect.fnUntraced(function* (plan: ChangePlan, except: ReadonlySet<string> = new Set()) {
      if (!(plan instanceof NodePlan)) return yield* Effect.die(new Error("a branch is merged into its own workspace"))
      const { unchanged, conflicts } = yield* compared(plan)
      if (conflicts.length > 0 && onConflict === "refuse") return yield* Effect.fail(conflict(branch, conflicts))
      const left = onConflict === "workspace" ? conflicts : []
      return yield* effects.plan(plan, new Set([...except, ...unchanged, ...left]))
    })
  }
})

/**
 * Records the states of the workspace's paths that the last session on a branch changed, as the session saw them. One
 * that changed in the workspace meanwhile is not known.
 */
export const settleBranch = Effect.fnUntraced(function* (
  branch: Branch,
  workspace: WorkspaceService
): Effect.fn.Return<void, PlanError | ToolError<"sandbox_error">> {
  if (sessionStart(branch) === undefined) return
  const { entries } = yield* readUpper({ upper: branch.upper, lower: workspace.root, attributes: "keep" })
  yield* settle(branch, workspace, entries)
})

const settle = Effect.fnUntraced(function* (
  branch: Branch,
  workspace: WorkspaceService,
  entries: ReadonlyArray<UpperEntry>
): Effect.fn.Return<BaseStates, PlanError> {
  const since = sessionStart(branch)
  const known = readBases(branch)
  if (since === undefined) return known
  const { view } = yield* nodePlan(workspace)
  const bases: Record<string, string> = {}
  for (const entry of entries) {
    const base = known[entry.path] ?? (yield* attempt(planCodes, () => stateSince(view, entry, since)))
    if (base !== undefined) bases[entry.path] = base
  }
  endSession(branch, bases)
  return bases
})

const nodePlan = (workspace: WorkspaceService): Effect.Effect<NodePlan, LookError> =>
  Effect.map(workspace.plan, (plan) => {
    if (!(plan instanceof NodePlan)) throw new Error("only a workspace on disk has branches")
    plan.useExactPaths()
    return plan
  })

/** The state of what an entry changes in the workspace; undefined where that has changed since a moment. */
const stateSince = (view: View, entry: UpperEntry, since: number): string | undefined => {
  const node = view.find(entry.path.split("/"))
  return newestChange(view, node, isWhole(entry)) > since ? undefined : stateOf(view, node, isWhole(entry))
}

/** True for an entry that takes the place of all that the workspace has there; a plain directory only adds to it. */
const isWhole = ({ kind, isOpaque }: UpperEntry): boolean => kind !== "directory" || isOpaque

/** State of a path: kind, content and permission bits; with `isWhole` that of everything below a directory, too. */
const stateOf = (view: View, node: Node | undefined, whole: boolean): string => {
  if (node === undefined) return "absent"
  if (node.kind === "file") return fileState(contentState(view.root, node), modeOf(node) ?? 0)
  if (node.kind !== "directory") return `${node.kind} ${node.target ?? ""}`
  return whole ? `tree ${treeHash(view, node)}` : directoryState(modeOf(node) ?? 0)
}

const fileState = (fingerprint: string, mode: number): string => `${fingerprint} ${(mode & 0o7777).toString(8)}`

const directoryState = (mode: number): string => `directory ${(mode & 0o7777).toString(8)}`

/** By size and times, since a directory that goes may hold more than can be read. */
const treeHash = (view: View, top: DirectoryNode): string => {
  const hash = createHash("sha256")
  for (const { origin } of below(view, top)) {
    hash.update(`${origin?.path}\0${origin?.identity.number} ${origin?.size} ${origin?.modified}\0`)
  }
  return hash.digest("hex")
}

const newestChange = (view: View, node: Node | undefined, whole: boolean): number => {
  if (node === undefined || (node.kind === "directory" && !whole)) return 0
  let newest = 0
  for (const { origin } of node.kind === "directory" ? below(view, node) : [node]) {
    newest = Math.max(newest, origin?.changed ?? 0)
  }
  return newest
}

function* below(view: View, directory: DirectoryNode): Generator<Node> {
  yield directory
  for (const name of view.names(directory)) {
    const node = view.child(directory, name)
    if (node?.kind === "directory") yield* below(view, node)
    else if (node !== undefined) yield node
  }
}

interface Comparison {
  /** Paths that are no change: as they were before the branch, or alike on both sides. */
  readonly unchanged: ReadonlyArray<string>
  readonly conflicts: ReadonlyArray<string>
}

/** Compares three states of each path: what the branch saw, what it made of it, and what the workspace has now. */
const compare = Effect.fnUntraced(function* (
  { view }: NodePlan,
  entries: ReadonlyArray<UpperEntry>,
  { bases, own: ownOf }: { readonly bases: BaseStates; readonly own: (entry: UpperEntry) => Effect.Effect<string> }
): Effect.fn.Return<Comparison, PlanError> {
  const unchanged: Array<string> = []
  const conflicts: Array<string> = []
  for (const entry of entries) {
    const { path } = entry
    const base = bases[path]
    const now = yield* attempt(planCodes, () => stateOf(view, view.find(path.split("/")), isWhole(entry)))
    const own = yield* ownOf(entry)
    const isAddedTo = !isWhole(entry) && now.startsWith("directory ")
    if (own === now || (own === base && (isWhole(entry) || isAddedTo))) unchanged.push(path)
    else if (now !== base && !isAddedTo && !(now === "absent" && !isWhole(entry))) conflicts.push(path)
  }
  return { unchanged, conflicts: conflicts.toSorted() }
})

/** States of a branch's own entries, each read once. */
const ownStates = (branch: Branch): ((entry: UpperEntry) => Effect.Effect<string>) => {
  const known = new Map<string, string>()
  return (entry) => {
    const state = known.get(entry.path)
    if (state !== undefined) return Effect.succeed(state)
    return Effect.tap(ownState(branch, entry), (found) => Effect.sync(() => known.set(entry.path, found)))
  }
}

const ownState = (branch: Branch, { kind, path, mode }: UpperEntry): Effect.Effect<string> => {
  if (kind === "whiteout") return Effect.succeed("absent")
  if (kind === "directory") return Effect.succeed(directoryState(mode))
  const full = join(branch.upper, path)
  if (kind === "symlink") return Effect.sync(() => `symlink ${readlinkSync(full)}`)
  return Effect.flatMap(
    Effect.sync(() => lstatSync(full).size),
    (size) => Effect.map(fingerprintInSlices(full, size), (fingerprint) => fileState(fingerprint, mode))
  )
}

const mostNamed = 20

const conflict = ({ name }: Branch, paths: ReadonlyArray<string>): ToolError<"stale_file"> => {
  const named = paths.slice(0, mostNamed).join(", ") + (paths.length > mostNamed ? ", …" : "")
  return makeToolError("stale_file", `${named} changed in the workspace and on branch '${name}'; nothing was merged`, {
    suggestion: "Choose a side for conflicts (branch or workspace), or change the branch so that both sides agree.",
    details: { path: paths[0] ?? "", paths: paths.slice(0, 100), branch: name }
  })
}
