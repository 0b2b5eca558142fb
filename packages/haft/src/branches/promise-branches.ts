import type { Answer, ApprovalQuestion, Party, Reply } from "@haft/core"
import type { OpenHost } from "@haft/core/promise"
import type { BranchProgram, ConflictChoice } from "@haft/node/internal"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"

import type { BranchDiff, Branches, BranchInfo } from "./branches.ts"

/** Several attempts side by side on one workspace, without Effect. */
export interface PromiseBranches {
  readonly create: (name: string) => Promise<BranchInfo>
  readonly list: () => Promise<ReadonlyArray<BranchInfo>>
  readonly diff: (name: string) => Promise<BranchDiff>
  /** Commits everything that a branch changed, all or nothing, and drops it. A call of the tool `merge_branch`. */
  readonly merge: (name: string, options?: PromiseMergeOptions) => Promise<Reply>
  readonly drop: (name: string) => Promise<void>
  /** Opens a host on a branch, in a process of its own. Call `dispose` when done. */
  readonly host: (name: string) => Promise<OpenBranchHost>
  /** Runs a program on a branch, outside every sandbox, with this process's standard streams. Returns its exit code. */
  readonly run: (name: string, program: BranchProgram) => Promise<number>
}

/** A host on a branch: its files, search and commands see the branch. */
export interface OpenBranchHost extends Pick<OpenHost, "tools" | "call" | "preview"> {
  readonly dispose: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
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
  host: async (name) => {
    const scope = Scope.makeUnsafe()
    const dispose = (): Promise<void> => Effect.runPromise(Scope.close(scope, Exit.void))
    try {
      const { tools, call, preview } = await Effect.runPromise(Scope.provide(branches.host(name), scope))
      return {
        tools,
        call: (tool, args, { ask, signal, ...options } = {}) =>
          Effect.runPromise(
            call(tool, args, {
              ...options,
              ...(ask !== undefined && { ask: (question) => Effect.promise(() => ask(question)) })
            }),
            signal === undefined ? {} : { signal }
          ),
        preview: (tool, args) => Effect.runPromise(preview(tool, args)),
        dispose,
        [Symbol.asyncDispose]: dispose
      }
    } catch (error) {
      await dispose()
      throw error
    }
  },
  run: (name, program) => Effect.runPromise(branches.run(name, program))
})
