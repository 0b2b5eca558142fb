import * as Effect from "effect/Effect"

import { dependencyDirectories } from "../control-files.ts"
import { artifactAddress, Artifacts } from "../services/artifacts.ts"
import { type ChangedPath, type ChangePlan, netChanges } from "../services/change-plan.ts"
import { Journal } from "../services/journal.ts"
import type { ControlFileChange } from "../services/processes.ts"
import type { CommandEffects, LeftOutPath } from "../services/sandbox.ts"
import { type CommitError, type PlanError, Workspace } from "../services/workspace.ts"
import type { ToolError } from "../tool-error.ts"
import type { WrittenPath } from "../touches.ts"
import { approveEffects } from "./approve-effects.ts"
import { CurrentCall } from "./call.ts"
import { stepSpan } from "./trace.ts"

/** Why changes are not committed. */
export type CommitFailure = CommitError["code"] | "approval_denied" | "journal_unavailable"

/** Outcome of the changes in an overlay: committed, unchanged, dropped or refused. */
export interface CommittedEffects {
  readonly outcome: "committed" | "unchanged" | "dropped" | "refused"
  readonly changes: ReadonlyArray<ChangedPath>
  /** False where undo can't take the changes back, because what they replaced is too large to keep. */
  readonly isUndoable?: false
  /** Changes that the commit could not take over. */
  readonly leftOut: ReadonlyArray<LeftOutPath>
  /** Control files that were moved aside instead of being committed, and those that were only recorded. */
  readonly controlFiles: ReadonlyArray<ControlFileChange>
  /** Address of the artifact with the diff of what was committed. */
  readonly diffPath?: string
  /** Why nothing was committed, where that was not meant to be so. */
  readonly failure?: ToolError<CommitFailure>
}

/** How the command ended, and who is there. */
export interface CommitSituation {
  /** Asks a person about the changes even where no rule and no protected path says so. */
  readonly asks?: boolean
  /** Leaves the workspace as it was. */
  readonly isDropped: boolean
  /** False where nobody can be asked: in a dialect without questions, and for a call that was cancelled. */
  readonly canAsk: boolean
}

/**
 * Commits what a command changed on its overlay, all or nothing, once that is judged. Where nobody can be asked, control
 * files are held back and the rest is committed.
 */
export const commitEffects = Effect.fnUntraced(function* (
  effects: CommandEffects,
  { isDropped, canAsk, asks = false }: CommitSituation
) {
  const asked = effects.controlFiles.filter(({ isRecordedOnly }) => !isRecordedOnly)
  const recordedOnly = effects.controlFiles
    .filter(({ isRecordedOnly }) => isRecordedOnly)
    .map(({ path, reason }): ControlFileChange => ({ path, reason }))
  const heldBack = new Set(canAsk || isDropped ? [] : asked.map(({ path }) => path))
  const quarantined = yield* effects.quarantine(heldBack)
  const controlFiles = [...quarantined, ...recordedOnly]
  const { leftOut } = effects
  const settled = Effect.gen(function* () {
    const { plan: begin, isSecret } = yield* Workspace
    const plan = yield* begin
    yield* effects.plan(plan, heldBack)
    const changes = netChanges(plan.changes)
    if (isDropped) return { outcome: "dropped", changes, leftOut, controlFiles: [] } as const
    if (plan.changes.length === 0) return { outcome: "unchanged", changes, leftOut, controlFiles } as const
    const writes = writesOf(changes, new Set(heldBack.size > 0 ? [] : asked.map(({ path }) => path)))
    const { tool } = yield* CurrentCall
    const diff = yield* diffOfEffects(plan, changes, effects)
    const undoable = plan.isUndoable ? {} : { isUndoable: false as const }
    yield* approveEffects({
      writes,
      removedFiles: changes.filter((change) => isDeletedFile(change) && !effects.isIgnored(change.path)).length,
      preview: Effect.succeed(diff),
      ...reasonToAsk(tool, changes, {
        asks,
        isForGood: canAsk && !plan.isUndoable,
        isAskedAbout: (path) => canAsk && isSecret(path) && !isDependency(path)
      })
    })
    const call = yield* CurrentCall
    const { approvedState: _ofTheCommand, ...rest } = call
    const judged = { ...rest, assessedWrites: plan.changes.flatMap(({ path, movedTo = path }) => [path, movedTo]) }
    yield* Effect.provideService(
      plan.commit((fresh) => effects.plan(fresh, heldBack)),
      CurrentCall,
      judged
    )
    const diffPath = yield* saveDiff(diff)
    return { outcome: "committed", changes, ...undoable, leftOut, controlFiles, diffPath } as const
  })
  const result: CommittedEffects = yield* settled.pipe(
    stepSpan("overlay"),
    Effect.catch((failure) =>
      Effect.succeed({ outcome: "refused" as const, changes: [], leftOut, controlFiles: [], failure })
    )
  )
  yield* recordEffects(result)
  return result
})

const writesOf = (changes: ReadonlyArray<ChangedPath>, asked: ReadonlySet<string>): ReadonlyArray<WrittenPath> => {
  const writes = changes.map(({ path, before }) => ({
    path,
    exists: before !== "absent",
    isProtected: asked.has(path)
  }))
  // A file that was deleted together with its directory, or one that made a repository of what lay around it.
  const named = new Set(changes.map(({ path }) => path))
  const others = [...asked].filter((path) => !named.has(path))
  return [...writes, ...others.map((path) => ({ path, exists: true, isProtected: true }))]
}

/** Reason for a question that neither a rule nor a protected path calls for. */
const reasonToAsk = (
  tool: string,
  changes: ReadonlyArray<ChangedPath>,
  { asks, isForGood, isAskedAbout }: AskGrounds
): { readonly because?: string } => {
  const secret = changes.find(({ path }) => isAskedAbout(path))
  if (secret !== undefined) return { because: `${tool} changed ${secret.path}, which is a secret path` }
  if (isForGood) return { because: `${tool} replaced more than undo can keep, so it can't be undone` }
  return asks ? { because: `${tool} changed ${changes.length} paths` } : {}
}

interface AskGrounds {
  readonly asks: boolean
  /** Undo can't take the changes back. */
  readonly isForGood: boolean
  readonly isAskedAbout: (path: string) => boolean
}

/** Packages come with keys of their tests. */
const isDependency = (path: string): boolean => path.split("/").some((name) => dependencyDirectories.includes(name))

const isDeletedFile = ({ kind, what }: ChangedPath): boolean => kind === "deleted" && what !== "directory"

/** Files that a diff shows by their lines; the others are counted. */
const mostShown = 2000

/** The diff that people see: build output is counted, and not shown line by line. */
export const diffOfEffects = Effect.fnUntraced(function* (
  plan: ChangePlan,
  changes: ReadonlyArray<ChangedPath>,
  { isIgnored }: Pick<CommandEffects, "isIgnored">
): Effect.fn.Return<string, PlanError> {
  const own = changes.filter(({ path, what }) => !isIgnored(path, what === "directory")).map(({ path }) => path)
  const shown = new Set(own.slice(0, mostShown))
  const diff = yield* plan.diffWhere((path) => shown.has(path))
  const ignored = changes.length - own.length
  return [
    diff,
    ...(own.length > mostShown ? [`… and ${own.length - mostShown} more paths\n`] : []),
    ...(ignored > 0 ? [`… and ${ignored} ignored paths\n`] : [])
  ].join("")
})

const saveDiff = Effect.fnUntraced(function* (diff: string) {
  const artifacts = yield* Artifacts
  const { step, run = "" } = yield* CurrentCall
  return artifactAddress(run, yield* artifacts.save(`diffs/step_${String(step).padStart(4, "0")}.patch`, diff))
})

/** Paths that the audit log names. */
const mostListed = 200

const recordEffects = Effect.fnUntraced(function* (effects: CommittedEffects) {
  const { outcome, changes, isUndoable, leftOut, diffPath, failure } = effects
  const journal = yield* Journal
  const { id, step, tool } = yield* CurrentCall
  yield* journal.append({
    type: "command_effects",
    request_id: id,
    step,
    tool,
    outcome,
    ...countsOf(changes),
    paths: changes.slice(0, mostListed).map(({ path, kind }) => ({ path, kind })),
    ...(isUndoable === false && { undoable: false }),
    ...(diffPath !== undefined && { diff_path: diffPath }),
    ...(leftOut.length > 0 && { left_out: leftOut.slice(0, mostListed) }),
    ...(failure !== undefined && { error: failure.code })
  })
})

/** How many paths were created, modified and deleted. */
export const countsOf = (
  changes: ReadonlyArray<ChangedPath>
): { readonly created: number; readonly modified: number; readonly deleted: number } => ({
  created: changes.filter(({ kind }) => kind === "created").length,
  modified: changes.filter(({ kind }) => kind === "modified" || kind === "moved").length,
  deleted: changes.filter(({ kind }) => kind === "deleted").length
})
