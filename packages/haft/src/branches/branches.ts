import {
  type ChangedPath,
  Host,
  Journal,
  type LeftOutPath,
  type PluginError,
  type Reply,
  type ToolError,
  use,
  Workspace
} from "@haft/core"
import { type BranchError, branchesOf, type BranchProgram, type ConflictChoice, runOnBranch } from "@haft/node/internal"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

import { checkConfig, type ConfigError, type HaftConfig, type StandardServices } from "../config/config.ts"
import type { ApproverOptions } from "../host/approver.ts"
import { hostOn, standardServices, stateOf } from "../host/standard-host.ts"
import { type BranchHost, startBranchHost } from "./branch-host.ts"
import { diffOfBranch, mergePlugin } from "./merge-branch.ts"

/** A named view of a workspace with changes of its own. */
export interface BranchInfo {
  readonly name: string
  /** ISO 8601. */
  readonly createdAt: string
  /** True while a host or a program works on it. */
  readonly isInUse: boolean
}

/** Changes of a branch, against the workspace as it is now. */
export interface BranchDiff {
  readonly branch: string
  readonly changes: ReadonlyArray<Pick<ChangedPath, "path" | "kind">>
  /** A unified diff; files that `.gitignore` names are counted in it. */
  readonly diff: string
  /** Paths that were changed in the workspace, too, and not alike. */
  readonly conflicts: ReadonlyArray<string>
  /** Changes that can't be merged: sockets, pipes, names that are not UTF-8. */
  readonly leftOut: ReadonlyArray<LeftOutPath>
}

export interface MergeOptions extends Pick<NonNullable<Parameters<Host["Service"]["call"]>[2]>, "ask" | "caller"> {
  /** Which side counts for a path that changed on both; `refuse`, the default, merges nothing. */
  readonly conflicts?: ConflictChoice
}

/** Several attempts side by side on one workspace. */
export interface Branches {
  readonly create: (name: string) => Effect.Effect<BranchInfo, BranchFailure>
  readonly list: Effect.Effect<ReadonlyArray<BranchInfo>, BranchFailure>
  readonly diff: (name: string) => Effect.Effect<BranchDiff, BranchFailure>
  /** Commits everything that a branch changed, all or nothing, and drops it. A call of the tool `merge_branch`. */
  readonly merge: (name: string, options?: MergeOptions) => Effect.Effect<Reply, PluginError | ToolError>
  readonly drop: (name: string) => Effect.Effect<void, BranchFailure>
  /** Opens a host on a branch, as the configuration describes it. It lives as long as its scope. */
  readonly host: (name: string) => Effect.Effect<BranchHost, BranchFailure | ToolError | ConfigError, Scope.Scope>
  /** Runs a program on a branch, outside every sandbox, with this process's standard streams. Returns its exit code. */
  readonly run: (name: string, program: BranchProgram) => Effect.Effect<number, BranchFailure>
}

export type BranchFailure = BranchError | ToolError<"journal_unavailable">

/** The branches of a workspace. */
export const openBranches = (
  config: HaftConfig = {},
  options: ApproverOptions = {}
): Effect.Effect<Branches, ConfigError | ToolError, Scope.Scope> =>
  Effect.gen(function* () {
    yield* Effect.try({ try: () => checkConfig(config), catch: (cause) => cause as ConfigError })
    return yield* branchesIn(config, yield* Layer.build(standardServices(config, options)))
  })

/** The branches of a workspace whose services run already. */
export const branchesIn = Effect.fnUntraced(function* (
  config: HaftConfig,
  services: Context.Context<StandardServices>
): Effect.fn.Return<Branches, ToolError> {
  const workspace = Context.get(services, Workspace)
  const journal = Context.get(services, Journal)
  const branches = branchesOf(workspace, yield* stateOf(config))
  const record = (branch: string, action: "created" | "dropped" | "opened" | "closed") =>
    Effect.suspend(() => journal.append({ type: "branch_changed", at: Date.now(), branch, action }))
  const host = hostOn({ root: workspace.root }, "haft", { own: [use(mergePlugin(branches))] })
  const session = Effect.fnUntraced(function* (name: string) {
    const branch = yield* branches.session(name)
    yield* Effect.acquireRelease(record(name, "opened"), () => Effect.ignore(record(name, "closed")))
    return branch
  })
  return {
    create: (name) =>
      Effect.gen(function* () {
        const { createdAt } = yield* branches.create(name)
        yield* record(name, "created")
        return { name, createdAt, isInUse: false }
      }),
    list: Effect.map(branches.list, (all) => all.map(({ name, createdAt, isInUse }) => ({ name, createdAt, isInUse }))),
    diff: (name) =>
      Effect.scoped(
        Effect.gen(function* () {
          const effects = yield* branches.changes(name)
          const { changes, diff } = yield* diffOfBranch(effects)
          const shown = changes.map(({ path, kind }) => ({ path, kind }))
          return { branch: name, changes: shown, diff, conflicts: yield* effects.conflicts, leftOut: effects.leftOut }
        })
      ).pipe(Effect.provideService(Workspace, workspace)),
    merge: (name, { conflicts = "refuse", ...options } = {}) =>
      Effect.scoped(
        Effect.gen(function* () {
          const built = yield* Layer.build(Layer.provide(host, Layer.succeedContext(services)))
          return yield* Context.get(built, Host).call("merge_branch", { branch: name, conflicts }, options)
        })
      ),
    drop: (name) => Effect.andThen(branches.drop(name), record(name, "dropped")),
    host: (name) => Effect.flatMap(session(name), (branch) => startBranchHost(branch, config)),
    run: (name, program) => Effect.scoped(Effect.flatMap(session(name), (branch) => runOnBranch(branch, program)))
  }
})
