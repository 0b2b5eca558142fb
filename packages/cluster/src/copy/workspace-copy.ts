import { rm } from "node:fs/promises"
import { join } from "node:path"

import {
  type CallLedgerService,
  hasOutsideEffects,
  makeToolError,
  type StateFilesService,
  type ToolError
} from "@haft/core"
import { secretPathMatcher, stepSpan } from "@haft/core/internal"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

import { type CallRecords, type EarlierCall } from "../storage/call-records.ts"
import { type CommitLog, type LoggedCommit, type Ownership } from "../storage/commit-log.ts"
import type { DatabaseError } from "../storage/database.ts"
import { applyChanges, isSameEntry, type LoggedChange, type Manifest } from "../storage/manifest.ts"
import { withLocalPaths } from "../storage/state-documents.ts"
import { type KnownFiles, readHashed, restoreTree, scanTree, type TreeOptions } from "./local-tree.ts"
import { type CommitToDecide, loggedChanges } from "./logged-changes.ts"

type CommitFailure = ToolError<"already_applied" | "unknown_outcome" | "cluster_unavailable">

/** The files of a workspace on the member that owns it: a copy of what the log says, and the only way to change the log. */
export interface WorkspaceCopy {
  readonly workspace: string
  readonly root: string
  /** The host's state directory for this copy. */
  readonly state: string
  readonly ownership: () => Ownership
  /** Decides commits of the workspace by the log. */
  readonly decide: (commit: CommitToDecide) => Effect.Effect<void, CommitFailure>
  readonly ledger: CallLedgerService
  /** Rules and other documents of the workspace, in the database. */
  readonly documents: StateFilesService
  /** Looks up an earlier call with this request id. */
  readonly recall: (requestId: string) => Effect.Effect<EarlierCall, DatabaseError>
  /** Records how a call ended, and what it changed besides its commits. Without a reply the call was canceled. */
  readonly finish: (requestId: string, tool: string, reply: unknown) => Effect.Effect<void>
  /** To be called when the steps of a commit are done. */
  readonly committed: () => void
  /** Puts changes into the log that commands and terminals made to the files. */
  readonly capture: Effect.Effect<void, DatabaseError>
  readonly seq: () => bigint
  readonly notCarried: () => ReadonlyArray<string>
  /** Captures what is left, and makes a checkpoint where many commits have been made since the last. */
  readonly settle: Effect.Effect<void, DatabaseError>
  /** True once this member must not serve the workspace any longer. */
  readonly isLost: () => boolean
}

export interface CopyOptions {
  readonly ownership: Ownership
  readonly log: CommitLog
  readonly calls: CallRecords
  readonly documents: StateFilesService
  /** Where copies are kept on this member: `<directory>/<workspace>`. */
  readonly directory: string
  /** The directory that is imported when the cluster does not have the workspace yet. */
  readonly seed: string
  readonly secretPaths?: ReadonlyArray<string>
  /** False when this member's lease may have ended. */
  readonly isInForce: () => boolean
  /** Told once, when the copy can't be used any longer: another owner, or files that may differ from the log. */
  readonly onLost: (why: string) => void
  readonly checkpointEvery?: number
}

/** Opens the copy of a workspace: imports it, or restores checkpoint and log. */
export const openCopy = Effect.fnUntraced(function* (options: CopyOptions) {
  const { log, calls, directory, seed, isInForce } = options
  const { workspace } = options.ownership
  let { epoch } = options.ownership
  const ownership = (): Ownership => ({ workspace, epoch })
  const root = join(directory, workspace, "files")
  const state = join(directory, workspace, "state")
  // The matcher of core alone: a key that git tracks is in the repository's objects anyway.
  const matcher = secretPathMatcher(options.secretPaths)
  const isSecret = (path: string): boolean => matcher(path) !== undefined
  const tree: TreeOptions = { root, isSecret, maximumBytes: log.maximumBytes }
  const content = (sha256: string): Promise<Uint8Array> => Effect.runPromise(log.content(sha256))

  // A write-ahead log of an earlier life knows less than the commit log.
  yield* Effect.promise(() => rm(join(state, "commits"), { recursive: true, force: true }))
  const loaded = yield* log.load(workspace)
  const isNew = loaded.sinceCheckpoint === undefined
  const notImported = isNew ? yield* importTree(log, ownership(), { ...tree, root: seed }) : []
  const { manifest, seq: lastSeq, sinceCheckpoint = 0 } = isNew ? yield* log.load(workspace) : loaded
  const restored = yield* Effect.promise(() => restoreTree(tree, manifest, content))
  const known: KnownFiles = restored.known

  let seq = lastSeq
  let uncheckpointed = sinceCheckpoint
  let isLost = false
  let mayHaveOutsideChanges = false
  /** Paths that stay on this member, and those that stayed where the workspace was before. */
  let notCarried = restored.notCarried
  const leftBehind = [...loaded.notCarried, ...notImported].filter((path) => !notCarried.includes(path))
  /** The commit that is decided, and whose steps are not done yet. The workspace makes one commit at a time. */
  let decided: { readonly call: string; readonly paths: ReadonlySet<string> } | undefined
  const withCommits = new Set<string>()
  const parts = new Map<string, number>()
  const outside = new Set<string>()
  const earlier = new Map<string, EarlierCall>()
  const appending = Semaphore.makeUnsafe(1)

  const lose = (why: string): void => {
    if (isLost) return
    isLost = true
    options.onLost(why)
  }
  const unavailable = (why: string): ToolError<"cluster_unavailable"> =>
    makeToolError("cluster_unavailable", `${why}; nothing was changed`, {
      suggestion: "Send the call again with the same request id in a few seconds.",
      retryable: true
    })
  const unknown = (requestId: string): ToolError<"unknown_outcome"> =>
    makeToolError("unknown_outcome", "the cluster lost track of this call: it may have had its effects or not", {
      suggestion: "Look at the files, then decide; don't send the call again unseen.",
      details: { request_id: requestId },
      retryable: false
    })
  const appliedBefore = (requestId: string, found?: { seq: string; paths: ReadonlyArray<string> }) =>
    makeToolError(
      "already_applied",
      "the change was made by an earlier attempt with this request id, whose reply was lost",
      {
        suggestion: "Read the files if you need their content; don't make the change again.",
        details: { request_id: requestId, ...(found && { seq: found.seq, paths: found.paths }) }
      }
    )
  const fenced = (message: string) => {
    lose(message)
    return Effect.fail(unavailable("the workspace has a new owner"))
  }
  const lostNow = Effect.suspend(() => {
    if (isLost || !isInForce()) return Effect.fail(unavailable("this member has lost touch with the cluster"))
    return Effect.void
  })

  /** Appends to the log and applies to the manifest, one commit at a time. */
  const append = (commit: LoggedCommit) =>
    appending.withPermits(1)(
      Effect.gen(function* () {
        yield* log.store(commit.contents).pipe(Effect.mapError(({ message }) => unavailable(message)))
        const appended = log.append(ownership(), commit).pipe(
          Effect.catchIf(
            (error) => error._tag === "DatabaseError" && error.isUncertain,
            () => settleUncertain(commit)
          ),
          Effect.catchTags({
            DatabaseError: ({ message }) => Effect.fail(unavailable(message)),
            Fenced: ({ message }) => fenced(message),
            AlreadyCommitted: () => Effect.fail(appliedBefore(commit.requestId))
          })
        )
        seq = yield* appended
        uncheckpointed++
        applyChanges(manifest, commit.changes)
      })
    )

  const settleUncertain = (commit: LoggedCommit) =>
    log.settle(ownership(), commit).pipe(
      Effect.retry({ times: 2 }),
      Effect.catch(() => {
        lose("a commit was sent to the database and no answer came")
        return Effect.fail(unknown(commit.requestId))
      }),
      Effect.flatMap((settled) => {
        ;({ epoch } = settled)
        return settled.seq === undefined
          ? Effect.fail(unavailable("the database ended the connection before it decided"))
          : Effect.succeed(settled.seq)
      })
    )

  const nextPart = (requestId: string): number => {
    const part = parts.get(requestId) ?? 0
    parts.set(requestId, part + 1)
    return part
  }

  const decide: WorkspaceCopy["decide"] = (commit) =>
    Effect.gen(function* () {
      // Steps that failed have left files that differ from the log.
      if (decided !== undefined) lose(`the steps of a commit of call ${decided.call} failed`)
      yield* lostNow
      const {
        changes,
        contents,
        notCarried: left
      } = loggedChanges(manifest, commit, { isSecret, maximumBytes: log.maximumBytes })
      if (left.length > 0) notCarried = [...new Set([...notCarried, ...left])]
      const touched = commit.changes.flatMap(({ path, movedTo = path }) => [path, movedTo])
      yield* append({ requestId: commit.call, part: nextPart(commit.call), changes, contents })
      // Until the steps are done, files differ from the log, and a capture must not take that for a change.
      decided = { call: commit.call, paths: new Set(touched) }
      withCommits.add(commit.call)
    }).pipe(stepSpan("decide"))

  const claim: CallLedgerService["claim"] = (call, facts) =>
    Effect.suspend(() => {
      const before = earlier.get(call.id)
      if (before?.kind === "committed") return Effect.fail(appliedBefore(call.id, before))
      if (before?.kind === "unknown") return Effect.fail(unknown(call.id))
      return hasOutsideEffects(facts) ? Effect.andThen(lostNow, claimOutside(call, facts)) : lostNow
    })

  const claimOutside: CallLedgerService["claim"] = (call, facts) =>
    Effect.gen(function* () {
      if (facts.runs !== undefined || facts.types !== undefined) mayHaveOutsideChanges = true
      const isClaimed = yield* calls.claim(ownership(), call.id, call.tool).pipe(
        Effect.catchTags({
          // Nothing has run yet: even if the claim was written, only this id is spent.
          DatabaseError: ({ message }) => Effect.fail(unavailable(message)),
          Fenced: ({ message }) => fenced(message)
        })
      )
      if (!isClaimed) return yield* unknown(call.id)
      return void outside.add(call.id)
    })

  const capture = Effect.gen(function* () {
    if (isLost || !mayHaveOutsideChanges) return
    const before: Manifest = new Map(manifest)
    const pathsBefore = decided?.paths
    const scanned = yield* Effect.promise(() => scanTree(tree, known))
    notCarried = scanned.notCarried
    const isStill = (path: string): boolean =>
      pathsBefore?.has(path) !== true && decided?.paths.has(path) !== true && before.get(path) === manifest.get(path)
    const changes: Array<LoggedChange> = []
    const contents = new Map<string, Uint8Array>()
    for (const [path, entry] of scanned.entries) {
      if (isSameEntry(entry, before.get(path)) || !isStill(path)) continue
      if (entry.kind === "file") {
        const bytes = yield* Effect.promise(() => readHashed(root, path, entry.sha256))
        // It is being written: the next capture takes it.
        if (bytes === undefined) continue
        contents.set(entry.sha256, bytes)
      }
      changes.push({ path, entry })
    }
    const gone = [...before.keys()].filter((path) => !scanned.entries.has(path) && isStill(path))
    const removed = gone.map((path): LoggedChange => ({ path, entry: null }))
    if (changes.length + removed.length === 0) return
    const requestId = `capture-${epoch}-${seq}`
    yield* append({ requestId, part: nextPart(requestId), changes: [...removed, ...changes], contents }).pipe(
      Effect.catch((error) => Effect.logWarning(`changes of commands are not in the log yet: ${error.message}`))
    )
  })

  const checkpoint = Effect.suspend(() => {
    if (isLost || uncheckpointed === 0) return Effect.void
    const at = { seq, manifest: new Map(manifest) }
    return log.checkpoint(ownership(), at).pipe(
      Effect.catchTag("Fenced", ({ message }) => Effect.sync(() => lose(message))),
      Effect.tap(() => Effect.sync(() => (uncheckpointed = Number(seq - at.seq))))
    )
  })
  const checkpointEvery = options.checkpointEvery ?? 200

  const finish: WorkspaceCopy["finish"] = (requestId, tool, reply) =>
    Effect.gen(function* () {
      const isOutside = outside.delete(requestId)
      const hasCommitted = withCommits.delete(requestId)
      if (decided?.call === requestId) lose(`the steps of a commit of call ${requestId} failed`)
      parts.delete(requestId)
      earlier.delete(requestId)
      if (isOutside) yield* capture
      if (reply !== undefined && (isOutside || hasCommitted))
        yield* calls.finish(ownership(), { requestId, tool, isOutside, reply })
      if (uncheckpointed >= checkpointEvery) yield* checkpoint
    }).pipe(
      // Without its reply, a call that is sent again is told that it was made, or that nobody knows.
      Effect.catch(({ message }) => Effect.logWarning(`the reply of call ${requestId} is not stored: ${message}`))
    )

  const copy: WorkspaceCopy = {
    workspace,
    root,
    state,
    ownership,
    decide,
    ledger: { claim },
    documents: withLocalPaths(options.documents, { workspace, root }),
    recall: (requestId) =>
      Effect.tap(calls.find(workspace, requestId), (found) => Effect.sync(() => earlier.set(requestId, found))),
    finish,
    committed: () => {
      decided = undefined
    },
    capture,
    seq: () => seq,
    notCarried: () => [...new Set([...notCarried, ...leftBehind.filter((path) => !manifest.has(path))])],
    settle: Effect.andThen(capture, checkpoint),
    isLost: () => isLost
  }
  return copy
})

/** Puts all files of a directory into the log, as the first checkpoint of a workspace. Returns the paths that it left out. */
const importTree = Effect.fnUntraced(function* (log: CommitLog, owned: Ownership, tree: TreeOptions) {
  const { entries, notCarried } = yield* Effect.promise(() => scanTree(tree, new Map()))
  const files = [...entries].flatMap(([path, entry]) => (entry.kind === "file" ? [{ path, entry }] : []))
  const missing: Array<string> = []
  yield* Effect.forEach(
    files,
    ({ path, entry }) =>
      Effect.gen(function* () {
        const bytes = yield* Effect.promise(() => readHashed(tree.root, path, entry.sha256))
        if (bytes === undefined) missing.push(path)
        else yield* log.put(entry.sha256, bytes)
      }),
    { concurrency: 4, discard: true }
  )
  for (const path of missing) entries.delete(path)
  yield* log.checkpoint(owned, { seq: 0n, manifest: entries })
  return notCarried
})
