import { randomUUID } from "node:crypto"
import { lstatSync } from "node:fs"

import {
  type ApprovedState,
  type ChangedPath,
  isToolError,
  makeToolError,
  type SymlinkPolicy,
  type ToolError
} from "@haft/core"

import { hasCode, stale } from "../../errno.ts"
import { type Root, withPlace } from "../paths/containment.ts"
import { pathOf, Spots } from "../paths/directory-entries.ts"
import { type Identity, identityOf, isSame } from "../paths/identity.ts"
import type { Recorded } from "../undo/history-log.ts"
import type { Gathered, History } from "../undo/history.ts"
import { planChanges, type PlannedChange } from "./plan.ts"
import { type Node, openView, stateOfNode, type View } from "./planned-tree.ts"
import { discard } from "./remove-leftover.ts"
import { type Pause, stageAll } from "./stage.ts"
import { type Step, type Steps, stepsFor } from "./steps.ts"
import { type CommitJournal, doSteps, type JournalledCommit, takeBack } from "./write-ahead-log.ts"

export interface CommitSettings {
  readonly root: Root
  readonly journal: CommitJournal
  readonly history: History
  readonly durable: boolean
  /** Told about every moment at which a crash would find another state. For tests. */
  readonly onStep?: (name: string) => void
}

export interface CommitRequest {
  readonly changes: ReadonlyArray<PlannedChange>
  readonly symlinks: SymlinkPolicy
  /** The paths are resolved already, as they are in the history. */
  readonly exact: boolean
  readonly approvedState?: ApprovedState
  /** Where changes may be made; anywhere when absent. */
  readonly assessedWrites?: ReadonlyArray<string>
  readonly call: string
  readonly run: string
  readonly tool: string
  readonly at: number
  /** The history entries that this commit takes back. */
  readonly undoes?: ReadonlyArray<string>
}

/**
 * Makes all changes or none. It pauses until the moment the commit is decided, never after; ended in a pause,
 * it leaves everything as it was.
 */
export function* commitChanges(
  settings: CommitSettings,
  request: CommitRequest
): Generator<Pause, ReadonlyArray<ChangedPath>> {
  try {
    return yield* commitOnce(settings, request, { movesByCopy: false })
  } catch (error) {
    // Two mounts of one disk have the same device number. The plan can't tell them apart, the rename does.
    if (!isToolError(error) || error.details?.["reason"] !== "EXDEV") throw error
    return yield* commitOnce(settings, request, { movesByCopy: true })
  }
}

/** What a commit would change. Fails where it would, as far as that shows before anything is written. */
export function* previewChanges(
  settings: CommitSettings,
  { changes, symlinks, exact }: Pick<CommitRequest, "changes" | "symlinks" | "exact">
): Generator<Pause, ReadonlyArray<ChangedPath>> {
  recover(settings)
  const view = openView(settings.root, symlinks)
  const { changed } = yield* planChanges(view, changes, { symlinks, exact, keep: () => {} })
  return changed
}

function* commitOnce(
  settings: CommitSettings,
  request: CommitRequest,
  { movesByCopy }: { readonly movesByCopy: boolean }
): Generator<Pause, ReadonlyArray<ChangedPath>> {
  const { root, history } = settings
  recover(settings)
  const view = openView(root, request.symlinks)
  yield* checkApproved(view, request)
  const gathered = history.gather()
  const { symlinks, exact } = request
  const { changed, recorded } = yield* planChanges(view, request.changes, {
    symlinks,
    exact,
    movesByCopy,
    keep: gathered.keep
  })
  checkAssessed(changed, request)
  const id = randomUUID().replaceAll("-", "").slice(0, 16)
  const steps = stepsFor(view, id)
  if (steps.steps.length === 0) return changed
  const { call, run, tool, at, undoes } = request
  history.append({
    id,
    call,
    run,
    tool,
    at,
    did: recorded,
    ...(gathered.tooLarge() && { tooLarge: true }),
    ...(undoes !== undefined && { undoes })
  })
  let isDone = false
  try {
    yield* carryOut(settings, gathered, id, steps)
    isDone = true
  } finally {
    if (!isDone) cancelIfPossible(history, id)
  }
  return changed
}

// Where even that can't be written the entry stays. Undoing it is refused: the files are not as it says.
const cancelIfPossible = (history: History, id: string): void => {
  try {
    history.cancel(id)
  } catch (error) {
    if (!isToolError(error)) throw error
  }
}

/** Finishes or takes back what a host that died left behind. Returns how many commits that were. */
export const recover = ({ root, journal, history, onStep }: Omit<CommitSettings, "durable">): number => {
  const { finished, swept, forget } = journal.recover()
  if (finished.length + swept.length === 0) return 0
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
  return finished.length + swept.length
}

/** True when the workspace looks as if all of this had been done, one after the other. */
const stands = (view: View, did: ReadonlyArray<Recorded>): boolean => {
  const states = new Map<string, string>()
  for (const one of did) {
    if (one.did === "move") states.set(one.from, "absent").set(one.to, one.state)
    else if (one.did === "write") states.set(one.path, one.after)
    else states.set(one.path, one.did === "delete" ? "absent" : "directory")
  }
  return [...states].every(([path, state]) => stateOfNode(view.root, view.find(path.split("/"))) === state)
}

function* carryOut(settings: CommitSettings, gathered: Gathered, id: string, plan: Steps): Generator<Pause, void> {
  const { root, journal, durable, onStep } = settings
  const single = asSingleStep(plan)
  const staged = plan.staged.map(({ path }) => path)
  const spots = new Spots(root)
  let isDecided = false
  try {
    journal.prepare(id, single === undefined ? staged : [...staged, ...rubbishOf(plan, single)])
    onStep?.("prepared")
    const linked = gathered.link(spots, onStep)
    const identities = yield* stageAll(spots, plan.staged, { durable, ...(onStep && { onStep }) })
    spots.forget()
    checkUnchanged(spots, plan.involved)
    const steps = single ?? plan.steps.map((step) => finalStep(step, identities, linked))
    const rubbish = rubbishOf(plan, steps)
    // What the file system does whole or not at all needs no journal beyond the names to sweep.
    if (single === undefined) journal.decide(id, { steps, staged, rubbish })
    isDecided = true
    onStep?.("decided")
    perform(settings, gathered, spots, id, { steps, staged, rubbish })
  } finally {
    spots.forget()
    if (!isDecided) giveUp(settings, gathered, id, { steps: [], staged, rubbish: [] })
  }
}

/** Leaves everything as it was; what can't be taken back now is on record, and is tried again the next time. */
const giveUp = (
  { root, journal, history }: CommitSettings,
  gathered: Gathered,
  id: string,
  begun: JournalledCommit
): void => {
  if (!takeBack(root, begun, history.imagePath)) return journal.keepNames(id, begun)
  gathered.unlink()
  journal.forget(id)
}

const perform = (
  settings: CommitSettings,
  gathered: Gathered,
  spots: Spots,
  id: string,
  { steps, staged, rubbish }: JournalledCommit
): void => {
  const { journal, durable, onStep } = settings
  const begun: Array<Step> = []
  try {
    doSteps(spots, steps, { durable, begun, ...(onStep && { onStep }) })
  } catch (error) {
    journal.abort(id)
    giveUp(settings, gathered, id, { steps: begun, staged, rubbish })
    throw error
  }
  try {
    for (const path of rubbish) {
      discard(spots, path)
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
const asSingleStep = ({ steps }: Steps): ReadonlyArray<Step> | undefined => {
  const [step, second] = steps
  if (step === undefined || steps.length > 2) return undefined
  if (second === undefined) {
    if (step.do === "overwrite") return undefined
    if (step.do !== "put_in_place") return steps
    const { from, path, over } = step
    return [{ do: "put_in_place", from, path, ...(over && { over }) }]
  }
  // A move is one rename, unless only the case changes: then the place may not look free.
  const isMove = step.do === "set_aside" && second.do === "put_in_place" && second.from === step.aside
  if (!isMove || step.path.toLowerCase() === second.path.toLowerCase()) return undefined
  if (second.over === undefined) return [{ ...step, aside: second.path }]
  return [{ do: "put_in_place", from: step.path, path: second.path, over: second.over }]
}

/** A step as it is done: what was staged is known by now, and which files the history keeps as they are. */
const finalStep = (
  step: Step,
  identities: ReadonlyMap<string, Identity>,
  linked: ReadonlyMap<number, string>
): Step => {
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
const rubbishOf = ({ steps, rubbish }: Steps, final: ReadonlyArray<Step>): ReadonlyArray<string> => {
  const keptBy = (list: ReadonlyArray<Step>) => list.flatMap((step) => ("kept" in step ? [step.kept] : []))
  const unused = new Set(keptBy(steps))
  for (const kept of keptBy(final)) unused.delete(kept)
  return unused.size === 0 ? rubbish : rubbish.filter((path) => !unused.has(path))
}

/** What a person approved must still be so. */
function* checkApproved(view: View, { approvedState, symlinks }: CommitRequest): Generator<void, void> {
  for (const [path, state] of approvedState ?? []) {
    if (stateNow(view, path, symlinks) !== state) throw stale(path)
    yield
  }
}

/** Refuses what the call was not judged by: links are resolved, so one that was put in the way since then shows here. */
const checkAssessed = (changed: ReadonlyArray<ChangedPath>, { assessedWrites }: CommitRequest): void => {
  if (assessedWrites === undefined) return
  const exactly = new Set(assessedWrites)
  for (const { path, movedTo, kind, after } of changed) {
    const isOnTheWay = kind === "created" && after === "directory"
    for (const changedPath of movedTo === undefined ? [path] : [path, movedTo]) {
      const isAssessed =
        exactly.has(changedPath) ||
        assessedWrites.some(
          (assessed) =>
            assessed === "." ||
            changedPath.startsWith(`${assessed}/`) ||
            (isOnTheWay && assessed.startsWith(`${changedPath}/`))
        )
      if (!isAssessed) throw elsewhere(changedPath)
    }
  }
}

const elsewhere = (path: string): ToolError =>
  makeToolError("stale_file", `the call would change ${path}, which it was not judged by; nothing was changed`, {
    suggestion: "Look where its paths lead by now, then repeat the call. A tool names all it changes in its touches.",
    details: { path }
  })

const stateNow = (view: View, given: string, symlinks: SymlinkPolicy): string => {
  try {
    const path = withPlace(view.root, given, { symlinks }, (place) => place.path)
    return stateOfNode(view.root, path === "." ? view.top : view.find(path.split("/")))
  } catch (error) {
    if (isToolError(error)) return error.code
    throw error
  }
}

/** The last look before anything is changed: time has passed since the plan was made. */
const checkUnchanged = (spots: Spots, nodes: ReadonlyArray<Node>): void => {
  for (const node of nodes) {
    const { origin } = node
    if (origin === undefined) continue
    const found = lstatSync(pathOf(spots.at(origin.path)), { throwIfNoEntry: false })
    if (found === undefined || !isSame(identityOf(found), origin.identity)) throw stale(origin.path)
    if (node.kind !== "file") continue
    if (found.size === origin.size && found.mtimeMs === origin.modified) continue
    if (stateOfNode(spots.root, { kind: "file", origin }) !== node.fingerprint) throw stale(origin.path)
  }
}
