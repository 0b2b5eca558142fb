import type { Answer, ApprovalQuestion, Party, Reply } from "@haft/core"
import type { BranchProgram, ConflictChoice } from "@haft/node/internal"
import * as Effect from "effect/Effect"

import type { BranchDiff, Branches, BranchInfo } from "./branches.ts"

/** Several attempts side by side on one workspace, without Effect. */
export interface PromiseBranches {
  readonly create: (name: string) => Promise<BranchInfo>
  readonly list: () => Promise<ReadonlyArray<BranchInfo>>
  readonly diff: (name: string) => Promise<BranchDiff>
  /** Commits everything that a branch changed, all or nothing, and drops it. A call of the tool `merge_branch`. */
  readonly merge: (name: string, options?: PromiseMergeOptions) => Promise<Reply>
  readonly drop: (name: string) => Promise<void>
  /** Runs a program on a branch, outside every sandbox, with this process's standard streams. Returns its exit code. */
  readonly run: (name: string, program: BranchProgram) => Promise<number>
}

export interface PromiseMergeOptions {
  /** Which side counts for a path that changed on both; `refuse`, the default, merges nothing. */
  readonly conflicts?: ConflictChoice
  readonly ask?: (question: ApprovalQuestion) => Promise<Answer>
  readonly caller?: Party
}

export const promiseBranches = (branches: Branches): PromiseBranches => ({
  create: (name) => Effect.runPromise(branches.create(name)),
  list: () => Effect.runPromise(branches.list),
  diff: (name) => Effect.runPromise(branches.diff(name)),
  merge: (name, { ask, ...options } = {}) =>
    Effect.runPromise(
      branches.merge(name, {
        ...options,
        ...(ask !== undefined && { ask: (question) => Effect.promise(() => ask(question)) })
      })
    ),
  drop: (name) => Effect.runPromise(branches.drop(name)),
  run: (name, program) => Effect.runPromise(branches.run(name, program))
})
