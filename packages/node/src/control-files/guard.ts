import { join } from "node:path"

import { type ControlFileChange } from "@haft/core"
import { isProtectedPath } from "@haft/core/internal"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"

import { stateDirectory } from "../state/state-directory.ts"
import { fingerprintBytes } from "../workspace/content.ts"
import { type OpenRoot, openSharedRoot } from "../workspace/paths/open-roots.ts"
import { type ApprovedChange, onApproved } from "./approved-changes.ts"
import { contentKey, problemOf } from "./judge.ts"
import { Quarantine } from "./quarantine.ts"
import { ControlFileScanner, lookAtFile, shownPath, type Snapshot } from "./snapshot.ts"

/**
 * Watches over the control files of a workspace while commands run in it: what was there before the first of them is
 * accepted, and what any of them made or changed is moved aside when one ends.
 */
export interface ControlFileGuard {
  /** Takes stock before a command, unless others run: what they made meanwhile is not accepted. */
  readonly refresh: Effect.Effect<void>
  /** Paths of existing control files, absolute, for sandboxes to mount read-only. */
  readonly existing: () => ReadonlyArray<string>
  /** Counts a command as running. */
  readonly begin: () => void
  /** Moves aside what commands have made or changed so far. */
  readonly check: Effect.Effect<ReadonlyArray<ControlFileChange>>
  /** Moves aside what commands made or changed, once one has ended. */
  readonly end: Effect.Effect<ReadonlyArray<ControlFileChange>>
}

export const controlFileGuard = (
  root: string,
  state: string | undefined
): Effect.Effect<ControlFileGuard, never, Scope.Scope> =>
  Effect.gen(function* () {
    const turn = yield* Semaphore.make(1)
    let opened: { readonly root: OpenRoot; readonly scanner: ControlFileScanner } | undefined
    let ignoreApproved: (() => void) | undefined
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        ignoreApproved?.()
        opened?.root.close()
      })
    )
    const open = () => {
      if (opened === undefined) {
        const held = openSharedRoot(root)
        opened = { root: held, scanner: new ControlFileScanner(held) }
        // A file tool asks before it changes a control file, so what it wrote stays.
        ignoreApproved = onApproved(held.path, (changes) => {
          if (running > 0) accepted = withApproved(held, accepted, changes)
        })
      }
      return opened
    }
    let accepted = nothing
    // Below installed packages it takes long to look, so that is done once for each command.
    let hasLooked = false
    let running = 0
    // A workspace that is gone has no control files; the sandbox says that it can't be entered.
    const scan = (options?: { readonly skipDependencies: boolean }): Effect.Effect<Snapshot> =>
      Effect.suspend(() => {
        try {
          const { scanner } = open()
          return Effect.promise(() => scanner.scan(options))
        } catch {
          return Effect.succeed(nothing)
        }
      })
    const moveAside = Effect.fnUntraced(function* (options: { readonly skipDependencies: boolean }) {
      const now = yield* scan(options)
      hasLooked ||= !options.skipDependencies
      if (opened === undefined) return []
      const parent = () => join(stateDirectory({ root, ...(state !== undefined && { state }) }), "quarantine")
      const { kept, changes } = moveChanges(opened.root, accepted, now, parent)
      accepted = kept
      return changes
    })
    return {
      refresh: Effect.suspend(() =>
        running > 0 ? Effect.void : Effect.map(scan({ skipDependencies: hasLooked }), (now) => void (accepted = now))
      ).pipe(turn.withPermits(1)),
      existing: () => accepted.controls.map((path) => join(root, shownPath(path))),
      begin: () => void running++,
      check: Effect.suspend(() => moveAside({ skipDependencies: hasLooked })).pipe(turn.withPermits(1)),
      end: Effect.suspend(() => {
        running = Math.max(0, running - 1)
        return moveAside({ skipDependencies: false })
      }).pipe(turn.withPermits(1))
    }
  })

const withApproved = (root: OpenRoot, accepted: Snapshot, changes: ReadonlyArray<ApprovedChange>): Snapshot => {
  const files = new Map(accepted.files)
  for (const { path, after } of changes) {
    if (!isProtectedPath(path)) continue
    const key = Buffer.from(path).toString("latin1")
    const file = lookAtFile(root, key)
    const isAsApproved =
      after === undefined || (file?.content !== undefined && fingerprintBytes(file.content) === after)
    if (file !== undefined && isAsApproved) files.set(key, file)
  }
  return { ...accepted, files }
}

const nothing: Snapshot = { files: new Map(), controls: [] }

const moveChanges = (
  root: OpenRoot,
  accepted: Snapshot,
  now: Snapshot,
  parent: () => string
): { readonly kept: Snapshot; readonly changes: ReadonlyArray<ControlFileChange> } => {
  const known = new Set([...accepted.files.values()].map(contentKey))
  const kept = new Map(now.files)
  const changes: Array<ControlFileChange> = []
  let quarantine: Quarantine | undefined
  for (const file of now.files.values()) {
    const before = accepted.files.get(file.path)
    if (before?.hash === file.hash && before.kind === file.kind) continue
    // Moved within the workspace, or copied.
    if (before === undefined && known.has(contentKey(file))) continue
    const reason = problemOf(root.path, file, before)
    if (reason === undefined) continue
    const path = shownPath(file.path)
    if (file.isDependency && file.git === undefined) {
      changes.push({ path, reason })
      continue
    }
    try {
      quarantine ??= new Quarantine(root, parent())
      const moved = quarantine.take(file, before)
      changes.push({ path, reason, quarantine: moved })
      if (before === undefined) kept.delete(file.path)
      else kept.set(file.path, before)
    } catch (cause) {
      changes.push({ path, reason: `${reason}; it could not be moved aside: ${String(cause)}` })
    }
  }
  quarantine?.record(changes)
  return { kept: { ...now, files: kept }, changes }
}
