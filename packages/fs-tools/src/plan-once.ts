import {
  type ChangedPath,
  type ChangePlan,
  type CommitError,
  CurrentCall,
  type LookError,
  netChanges,
  type PlanError,
  refuseHunks,
  type ToolError,
  Workspace
} from "@haft/core"
import * as Effect from "effect/Effect"

/** An operation that changes files: the changes it plans, and what it has to tell about them. */
export type PlanChanges<Input, A, E, R = never> = (plan: ChangePlan, input: Input) => Effect.Effect<A, E, R>

export interface PlannedOperation<Input, A, E, R = never> {
  /** Plans the changes of a call, and hands over what it will change as a diff. */
  readonly preview: (input: Input) => Effect.Effect<PlanPreview<A>, E | PlanError, Workspace | R>
  /** Commits what was planned for the call, or plans it now. */
  readonly commit: (
    input: Input
  ) => Effect.Effect<Committed<A>, E | CommitError | ToolError<"approval_denied">, Workspace | R>
}

export interface PlanPreview<A> {
  readonly result: A
  readonly diff: string
}

export interface Committed<A> {
  readonly result: A
  /** Outcome for each path. */
  readonly changes: ReadonlyArray<ChangedPath>
}

/**
 * Plans the changes of a call once, for its preview and for its execution: what was previewed is what is committed,
 * without being read again. The plan lives as long as the call's input.
 */
export const planOnce = <Input extends object, A, E, R = never>(
  planChanges: PlanChanges<Input, A, E, R>
): PlannedOperation<Input, A, E, R> => {
  const known = new WeakMap<Input, Planned<A>>()
  const planned = Effect.fnUntraced(function* (
    input: Input
  ): Effect.fn.Return<Planned<A>, E | LookError, Workspace | R> {
    const workspace = yield* Workspace
    const plan = yield* workspace.plan
    return { plan, result: yield* planChanges(plan, input) }
  })
  return {
    // Always anew: a question that is asked again shows the files as they are by then.
    preview: Effect.fnUntraced(function* (input): Effect.fn.Return<PlanPreview<A>, E | PlanError, Workspace | R> {
      const now = yield* planned(input)
      known.set(input, now)
      const { onPlanned } = yield* CurrentCall
      const diff = yield* now.plan.diff
      onPlanned?.(diff)
      return { result: now.result, diff }
    }),
    commit: Effect.fnUntraced(function* (input): Effect.fn.Return<
      Committed<A>,
      E | CommitError | ToolError<"approval_denied">,
      Workspace | R
    > {
      const { plan, result } = known.get(input) ?? (yield* planned(input))
      known.delete(input)
      const { refusedHunks } = yield* CurrentCall
      if (refusedHunks !== undefined) yield* refuseHunks(plan, refusedHunks)
      let latest = result
      const again = (fresh: ChangePlan): Effect.Effect<void, E, R> =>
        Effect.map(planChanges(fresh, input), (now) => {
          latest = now
        })
      const changes = yield* plan.commit(again)
      return { result: latest, changes: netChanges(changes) }
    })
  }
}

interface Planned<A> {
  readonly plan: ChangePlan
  readonly result: A
}
