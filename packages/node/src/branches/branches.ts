import { copyFileSync } from "node:fs"
import { join } from "node:path"

import { makeToolError, type PlanError, type ToolError, type WorkspaceService } from "@haft/core"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

import { attempt, ignoring } from "../errno.ts"
import { whyNoOverlay } from "../sandbox/overlay/overlay.ts"
import { type BranchEffects, branchEffects, type ConflictChoice, settleBranch } from "./branch-effects.ts"
import { holdBranch, type HoldError, isInUse } from "./branch-session.ts"
import {
  beginSession,
  type Branch,
  createBranch,
  findBranch,
  listBranches,
  markMerging,
  removeBranch,
  requireUnmerged
} from "./branch-store.ts"

/** Why something can't be done with a branch. */
export type BranchError = HoldError | PlanError | ToolError<"sandbox_error">

/** Branches of one workspace: several views side by side, each with changes of its own. */
export interface NodeBranches {
  readonly create: (name: string) => Effect.Effect<Branch, BranchError>
  readonly list: Effect.Effect<ReadonlyArray<Branch & { readonly isInUse: boolean }>, BranchError>
  readonly find: (name: string) => Effect.Effect<Branch, BranchError>
  /** A branch for programs to work on, until the scope ends. */
  readonly session: (name: string) => Effect.Effect<Branch, BranchError, Scope.Scope>
  /** Changes of a branch, while nobody works on it, until the scope ends. */
  readonly changes: (name: string) => Effect.Effect<BranchEffects, BranchError, Scope.Scope>
  /** Merges a branch by committing its effects with `commit`; when that says true, the branch is gone. */
  readonly merge: <A extends { readonly isMerged: boolean }, E, R>(
    name: string,
    onConflict: ConflictChoice,
    commit: (effects: BranchEffects) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, BranchError | E, R>
  readonly drop: (name: string) => Effect.Effect<void, BranchError>
}

/** The branches of a workspace whose state is in `state`. */
export const branchesOf = (workspace: WorkspaceService, state: string): NodeBranches => {
  const place = { root: workspace.root, state }
  const find = (name: string) => attempt(branchCodes, () => findBranch(place, name))
  const held = Effect.fnUntraced(function* (name: string) {
    const branch = yield* find(name)
    yield* holdBranch(branch)
    return branch
  })
  const settled = (branch: Branch): Effect.Effect<void, BranchError> =>
    Effect.scoped(Effect.andThen(holdBranch(branch), settleBranch(branch, workspace)))
  return {
    find,
    create: Effect.fnUntraced(function* (name) {
      const reason = isNamed(workspace) ? "it has named roots" : whyNoOverlay(workspace)
      if (reason !== undefined) {
        return yield* Effect.fail(makeToolError("sandbox_unavailable", `this workspace can't have branches: ${reason}`))
      }
      const branch = yield* attempt(branchCodes, () => createBranch(place, name))
      yield* Effect.scoped(holdBranch(branch)).pipe(
        Effect.onError(() => Effect.sync(() => removeBranch(branch, state)))
      )
      return branch
    }),
    list: Effect.suspend(() =>
      Effect.forEach(
        listBranches(place),
        (branch) => Effect.map(isInUse(branch), (inUse) => ({ ...branch, isInUse: inUse })),
        { concurrency: 4 }
      )
    ),
    session: Effect.fnUntraced(function* (name) {
      const branch = yield* find(name)
      const unfinished = requireUnmerged(branch)
      if (unfinished !== undefined) return yield* Effect.fail(unfinished)
      yield* settled(branch)
      return yield* Effect.acquireRelease(
        Effect.sync(() => {
          // The person's rules hold on every branch.
          ignoring(() => copyFileSync(join(state, "rules.json"), join(branch.state, "rules.json")), "ENOENT")
          beginSession(branch)
          return branch
        }),
        // Changes that can't be settled now, because a program of the session is still there, are when the branch is used next.
        () => Effect.ignore(settled(branch))
      )
    }),
    changes: (name) =>
      Effect.flatMap(held(name), (branch) =>
        branchEffects(branch, { workspace, state, isMerge: false, onConflict: "branch" })
      ),
    merge: (name, onConflict, commit) =>
      Effect.scoped(
        Effect.gen(function* () {
          const branch = yield* held(name)
          const effects = yield* branchEffects(branch, { workspace, state, isMerge: true, onConflict })
          const marked = Effect.acquireRelease(
            Effect.sync(() => markMerging(branch, true)),
            () => Effect.sync(() => markMerging(branch, false))
          )
          return yield* Effect.scoped(Effect.andThen(marked, commit(effects))).pipe(
            Effect.tap(({ isMerged }) => Effect.sync(() => isMerged && removeBranch(branch, state)))
          )
        })
      ),
    drop: (name) =>
      Effect.scoped(Effect.flatMap(held(name), (branch) => Effect.sync(() => removeBranch(branch, state))))
  }
}

const isNamed = ({ roots }: WorkspaceService): boolean => roots.some(({ name }) => name !== "")

const branchCodes = ["invalid_params", "file_not_found", "already_exists"] as const
