import { randomUUID } from "node:crypto"

import {
  type ChangedPath,
  type ChangePlan,
  type CommitError,
  CurrentCall,
  isToolError,
  type LookError,
  type SymlinkPolicy,
  type ToolError
} from "@haft/core"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schedule from "effect/Schedule"

import { type ApprovedChange, tellApproved } from "../../control-files/approved-changes.ts"
import { attempt, hasCode, isOpenElsewhere, lookCodes, planCodes } from "../../errno.ts"
import { type Root } from "../paths/containment.ts"
import { Spots } from "../paths/directory-entries.ts"
import { type FileIdentity } from "../paths/handles.ts"
import { folded } from "../paths/name-on-disk.ts"
import { rootAndRest } from "../paths/named-roots.ts"
import type { SecretFiles } from "../secrets/secret-files.ts"
import { inTurns, type Work } from "../turns.ts"
import type { Recorded } from "../undo/history-log.ts"
import type { Gathered, History } from "../undo/history.ts"
import { checkPlan, checkUnchanged, type Judged } from "./check-plan.ts"
import { discard } from "./leftovers.ts"
import { exclusively, type Turns } from "./lock.ts"
import { plannedContent } from "./plan-content.ts"
import { type CommitPlan, NodePlan } from "./plan.ts"
import { openView, stateLike, type View } from "./planned-tree.ts"
import { removeScratchNames, stageAll } from "./stage.ts"
import { type CommitStep, type Steps, stepsFor } from "./steps.ts"
import { type CommitJournal, doSteps, type JournalledCommit, takeBack, type WaitingCommit } from "./write-ahead-log.ts"

export interface CommitSettings extends Turns {
  readonly root: Root
  readonly secrets: SecretFiles
  readonly journal: CommitJournal
  readonly history: History
  readonly durable: boolean
  readonly decide: Decide
  /** Told about the paths of every commit that was made. */
  readonly listeners: Set<(paths: ReadonlyArray<string>) => void>
  /** Told about every moment at which a crash would find another state. For tests. */
  readonly onStep?: (name: string) => void
}

/** A commit whose files are staged, so that only the decision is missing. */
export interface StagedCommit {
  readonly id: string
  /** The id of the call that it is made for. */
  readonly call: string
  readonly run: string
  readonly changes: ReadonlyArray<ChangedPath>
  /** New content of a changed file. */
  readonly content: (path: string) => Iterable<Uint8Array>
  /** Writes the commit to this host's write-ahead log, so that the host finishes it after a crash. */
  readonly log: Effect.Effect<void, ToolError<"write_failed">>
}

/**
 * Decides a commit: once this succeeds the commit happens, whatever becomes of the host, and once it fails it does not.
 * On one machine the write-ahead log decides. Several members of a cluster ask what they share first, and log then.
 */
export type Decide = (
  commit: StagedCommit
) => Effect.Effect<
  void,
  ToolError<"write_failed" | "stale_file"> | ToolError<"already_applied" | "unknown_outcome" | "cluster_unavailable">
>

/** The write-ahead log of this host decides. */
export const decideLocally: Decide = ({ log }) => log

/** Call that commits. */
export interface CommitRequest extends Judged {
  readonly call: string
  readonly run: string
  readonly tool: string
  readonly at: number
  /** The history entries that this commit takes back. */
  readonly undoes?: ReadonlyArray<string>
}

/** So often is a plan made again because files changed under it. */
const maximumAttempts = 4

/** Commits a plan for the call that is under way; where it is out of date, plans `again` and commits that. */
const committer =
  (settings: CommitSettings): CommitPlan =>
  <E, R>(plan: NodePlan, again: ((plan: ChangePlan) => Effect.Effect<unknown, E, R>) | undefined) =>
    CurrentCall.use((call) => {
      const request = requestOf(call)
      const attemptOf = (
        current: NodePlan,
        attempts: number
      ): Effect.Effect<ReadonlyArray<ChangedPath>, CommitError | E, R> => {
        const committed = commitPlan(settings, current, request)
        // Where a person was asked, what they saw is what is committed.
        if (again === undefined || attempts === maximumAttempts || request.approvedState !== undefined) return committed
        return Effect.catchIf(
          committed,
          (error) => error.code === "stale_file",
          () =>
            Effect.flatMap(newPlan(settings, request.symlinks), (fresh) =>
              Effect.andThen(
                again(fresh),
                Effect.suspend(() => attemptOf(fresh, attempts + 1))
              )
            )
        )
      }
      // A plan that changes nothing waits for nobody.
      return plan.changes.length === 0 ? Effect.succeed([]) : exclusively(settings, attemptOf(plan, 1))
    })

/** Data of the call that a commit is made for. */
export const requestOf = (call: typeof CurrentCall.Service): CommitRequest => ({
  symlinks: call.symlinks,
  call: call.id,
  run: call.run ?? "none",
  tool: call.tool,
  at: call.startedAt,
  ...(call.approvedState !== undefined && { approvedState: call.approvedState }),
  ...(call.assessedWrites !== undefined && { assessedWrites: call.assessedWrites })
})

/** A plan on the workspace as it is now. */
export const newPlan = (
  settings: CommitSettings,
  symlinks: SymlinkPolicy,
  options: { readonly exact?: boolean } = {}
): Effect.Effect<NodePlan, LookError> =>
  attempt(lookCodes, () => {
    const { root, secrets, history } = settings
    return new NodePlan({ root, secrets, symlinks, canUndo: history.hasRoomFor, ...options }, committer(settings))
  })

/**
 * Makes all changes of a plan or none, for whoever holds the commit lock. It can be interrupted until the commit is
 * decided, never after; interrupted, it leaves everything as it was.
 */
export const commitPlan = (
  settings: CommitSettings,
  plan: NodePlan,
  request: CommitRequest
): Effect.Effect<ReadonlyArray<ChangedPath>, CommitError> =>
  commitOnce(settings, plan, request).pipe(
    Effect.retry({ schedule: untilClosed, while: isOpenElsewhere }),
    // Two mounts of one disk have the same device number. The plan can't tell them apart, the rename does.
    Effect.catchIf(
      (error) => error.details?.["reason"] === "EXDEV",
      () =>
        Effect.andThen(
          attempt(planCodes, () => plan.copyMoves()),
          commitOnce(settings, plan, request)
        )
    )
  )

/** Editors and virus scanners hold a file for moments: 1.3 seconds in all. */
const untilClosed = Schedule.max([Schedule.exponential("20 millis"), Schedule.recurs(6)])

const commitOnce = (
  settings: CommitSettings,
  plan: NodePlan,
  request: CommitRequest
): Effect.Effect<ReadonlyArray<ChangedPath>, CommitError> =>
  // A commit that happened is in the history and is announced, also where its call is canceled meanwhile.
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const { history } = settings
      const prepared = yield* restore(inTurns(planCodes, () => prepare(settings, plan, request)))
      if (prepared === undefined) return plan.changes
      const { id, steps, gathered } = prepared
      const { call, run, tool, at, undoes } = request
      yield* attempt(planCodes, () =>
        history.append({
          id,
          call,
          run,
          tool,
          at,
          did: plan.recorded,
          ...(gathered.tooLarge && { tooLarge: true }),
          ...(undoes !== undefined && { undoes })
        })
      )
      yield* carryOut(settings, gathered, { id, steps, plan, request, restore }).pipe(
        Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : Effect.sync(() => cancelIfPossible(history, id))))
      )
      announce(settings, plan.changes)
      return plan.changes
    })
  )

interface PreparedCommit {
  readonly id: string
  readonly steps: Steps
  readonly gathered: Gathered
}

/** Checks a plan and gathers what it replaces; undefined where there is nothing to do. */
function* prepare(settings: CommitSettings, plan: NodePlan, request: CommitRequest): Work<PreparedCommit | undefined> {
  const { waiting } = recover(settings)
  yield* checkPlan(plan, request, waiting)
  const id = randomUUID().replaceAll("-", "").slice(0, 16)
  const steps = stepsFor(plan.view, id)
  if (steps.steps.length === 0) return undefined
  return { id, steps, gathered: yield* settings.history.gather(plan.replaced) }
}

/** Tells listeners which paths have changed, and the control-file guard that these changes were approved. */
const announce = ({ root, listeners }: CommitSettings, changed: ReadonlyArray<ChangedPath>): void => {
  const byRoot = new Map<string, Array<ApprovedChange>>()
  const paths: Array<string> = []
  const changedTo = (path: string, after: string): void => {
    paths.push(path)
    const within = rootAndRest(root, path)
    const changes = byRoot.get(within.root)
    if (changes === undefined) byRoot.set(within.root, [{ path: within.rest, after }])
    else changes.push({ path: within.rest, after })
  }
  for (const { path, movedTo = path, after } of changed) {
    changedTo(path, movedTo === path ? after : "absent")
    if (movedTo !== path) changedTo(movedTo, after)
  }
  for (const [directory, approved] of byRoot) tellApproved(directory, approved)
  for (const listener of listeners) listener(paths)
}

// Where even that can't be written the entry stays. Undoing it is refused: the files are not as it says.
const cancelIfPossible = (history: History, id: string): void => {
  try {
    history.cancel(id)
  } catch (error) {
    if (!isToolError(error)) throw error
  }
}

type Recovering = Pick<CommitSettings, "root" | "journal" | "history" | "onStep">

/** Result of recovering the commits of hosts that died. */
interface Recovery {
  /** How many were finished or taken back. */
  readonly count: number
  /** Those that are half made until a directory is back. */
  readonly waiting: ReadonlyArray<WaitingCommit>
}

/** Finishes or takes back what a host that died left behind. */
export const recover = ({ root, journal, history, onStep }: Recovering): Recovery => {
  const { finished, swept, waiting, forget } = journal.recover()
  if (finished.length + swept.length === 0) return { count: 0, waiting }
  onStep?.("tidied")
  const view = openView(root, "deny")
  for (const entry of history.entries()) {
    if (!finished.includes(entry.id) && !swept.includes(entry.id)) continue
    history.detach(entry)
    if (swept.includes(entry.id) && !stands(view, entry.did)) history.cancel(entry.id)
    onStep?.("settled")
  }
  // Last, so that after another crash the next host settles the history again.
  forget()
  return { count: finished.length + swept.length, waiting }
}

/** True when the workspace looks as if all of this had been done, one after the other. */
const stands = (view: View, did: ReadonlyArray<Recorded>): boolean => {
  const states = new Map<string, string>()
  for (const one of did) {
    if (one.did === "move") states.set(one.from, "absent").set(one.to, one.state)
    else if (one.did === "write") states.set(one.path, one.after)
    else if (one.did === "set_mode") continue
    else states.set(one.path, one.did === "delete" ? "absent" : "directory")
  }
  return [...states].every(([path, state]) => {
    const node = view.find(path.split("/"))
    // Where case is ignored, the old spelling of a name finds the entry under its new one.
    const isOther = node?.origin !== undefined && node.origin.path !== path
    return stateLike(view.root, isOther ? undefined : node, state) === state
  })
}

interface Commit {
  readonly id: string
  readonly steps: Steps
  readonly plan: NodePlan
  readonly request: CommitRequest
  /** Lets a part of the commit be interrupted. */
  readonly restore: <A, E, R>(part: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

const carryOut = (
  settings: CommitSettings,
  gathered: Gathered,
  { id, steps: planned, plan, request, restore }: Commit
): Effect.Effect<void, CommitError> =>
  Effect.suspend(() => {
    const { root, journal, durable, onStep } = settings
    const single = asSingleStep(planned)
    const staged = planned.staged.map(({ path }) => path)
    const spots = new Spots(root)
    let isDecided = false
    root.commits.add(id)
    return Effect.gen(function* () {
      const linking = inTurns(planCodes, function* () {
        journal.prepare(id, single === undefined ? staged : [...staged, ...rubbishOf(planned, single)])
        onStep?.("prepared")
        return yield* gathered.link(spots, onStep)
      })
      const linked = yield* restore(linking)
      const identities = yield* restore(stageAll(spots, planned.staged, { durable, ...(onStep && { onStep }) }))
      const checking = inTurns(planCodes, function* () {
        spots.forget()
        yield* checkUnchanged(spots, planned.involved)
        const steps = single ?? planned.steps.map((step) => finalStep(step, identities, linked))
        return { steps, staged, rubbish: rubbishOf(planned, steps) }
      })
      const commit = yield* restore(checking)
      // A step that the file system does whole or not at all needs no log beyond the names to sweep.
      const log = single === undefined ? attempt(["write_failed"], () => journal.decide(id, commit)) : Effect.void
      const { call, run } = request
      const decided = settings.decide({
        id,
        call,
        run,
        changes: plan.changes,
        content: (path) => plannedContent(plan.view, path),
        log
      })
      yield* decided
      yield* inTurns(planCodes, function* () {
        isDecided = true
        onStep?.("decided")
        yield* perform(settings, gathered, spots, id, commit)
        removeScratchNames(planned.staged)
      })
    }).pipe(
      Effect.ensuring(
        Effect.suspend(() => {
          spots.forget()
          if (isDecided) return Effect.void
          return Effect.orDie(
            inTurns(planCodes, () => giveUp(settings, gathered, id, { steps: [], staged, rubbish: [] }))
          )
        })
      ),
      Effect.ensuring(Effect.sync(() => root.commits.remove(id)))
    )
  })

/** Leaves everything as it was; what can't be taken back now is on record, and is tried again the next time. */
function* giveUp(
  { root, journal, history }: CommitSettings,
  gathered: Gathered,
  id: string,
  begun: JournalledCommit
): Work {
  if (yield* takeBack(root, begun, history.imagePath)) {
    yield* gathered.unlink()
    journal.forget(id)
  } else journal.keepNames(id, begun)
}

function* perform(
  settings: CommitSettings,
  gathered: Gathered,
  spots: Spots,
  id: string,
  { steps, staged, rubbish }: JournalledCommit
): Work {
  const { root, journal, durable, onStep } = settings
  const begun: Array<CommitStep> = []
  root.reads.hold()
  try {
    yield* doSteps(spots, steps, { durable, begun, ...(onStep && { onStep }) })
  } catch (error) {
    journal.abort(id)
    yield* giveUp(settings, gathered, id, { steps: begun, staged, rubbish })
    throw error
  } finally {
    root.reads.release()
  }
  try {
    for (const path of rubbish) {
      yield* discard(spots, path)
      onStep?.("discarded")
    }
    journal.forget(id)
  } catch (error) {
    // The changes are made. What could not be removed is on record and goes the next time.
    if (!hasCode(error)) throw error
    journal.keepNames(id, { steps, staged, rubbish })
  }
  onStep?.("forgotten")
}

/** The plan as one step that the file system does whole or not at all; undefined where it takes more. */
const asSingleStep = ({ steps }: Steps): ReadonlyArray<CommitStep> | undefined => {
  const [step, second] = steps
  if (step === undefined || steps.length > 2) return undefined
  if (second === undefined) {
    if (step.do !== "put_in_place") return steps
    const { from, path, over } = step
    return [{ do: "put_in_place", from, path, ...(over && { over }) }]
  }
  // A move is one rename, unless only the case changes: then the place may not look free.
  const isMove = step.do === "set_aside" && second.do === "put_in_place" && second.from === step.aside
  if (!isMove || folded(step.path) === folded(second.path)) return undefined
  if (second.over === undefined) return [{ ...step, aside: second.path }]
  return [{ do: "put_in_place", from: step.path, path: second.path, over: second.over }]
}

/** A step as it is done: what was staged is known by now, and which files the history keeps as they are. */
const finalStep = (
  step: CommitStep,
  identities: ReadonlyMap<string, FileIdentity>,
  linked: ReadonlyMap<number, string>
): CommitStep => {
  if (step.do !== "put_in_place") return step
  const { kept, ...rest } = step
  const identity = identities.get(step.from) ?? step.identity
  // By the file's number and not its path: this commit may move a directory on the way.
  const image = step.over && linked.get(step.over.number)
  return {
    ...rest,
    ...(image === undefined ? kept !== undefined && { kept } : { image }),
    ...(identity && { identity })
  }
}

/** The temporary names to remove at the end, without those that the final steps don't use after all. */
const rubbishOf = ({ steps, rubbish }: Steps, final: ReadonlyArray<CommitStep>): ReadonlyArray<string> => {
  const keptBy = (list: ReadonlyArray<CommitStep>) => list.flatMap((step) => ("kept" in step ? [step.kept] : []))
  const unused = new Set(keptBy(steps))
  for (const kept of keptBy(final)) unused.delete(kept)
  return unused.size === 0 ? rubbish : rubbish.filter((path) => !unused.has(path))
}
