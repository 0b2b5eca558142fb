import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  symlinkSync,
  unlinkSync
} from "node:fs"
import { dirname } from "node:path"

import * as Effect from "effect/Effect"

import { attempt, type ErrorWith, ignoring, isErrno, isWithoutLinks, naming, planCodes, stale } from "../../errno.ts"
import { repeatUntilDone, writeFully } from "../content.ts"
import { pathOf, type Spots } from "../paths/directory-entries.ts"
import { type FileIdentity, identityOf, isSame } from "../paths/handles.ts"
import type { Work } from "../turns.ts"
import { type Owner, otherOwner } from "./owner.ts"
import type { FileNode, ScratchFile } from "./planned-tree.ts"
import type { Staged } from "./steps.ts"

interface StageOptions {
  readonly durable: boolean
  readonly onStep?: (name: string) => void
}

const maximumOpen = 128

const sliceMs = 20

/** Writes everything under temporary names. With durability, a file goes on to the disk while the next ones are written. */
export const stageAll = (
  spots: Spots,
  staged: ReadonlyArray<Staged>,
  { durable, onStep }: StageOptions
): Effect.Effect<ReadonlyMap<string, FileIdentity>, StageError> => {
  const identities = new Map<string, FileIdentity>()
  const syncing = new Syncing()
  function* stageEach(): Work {
    for (const one of staged) {
      const { descriptor, identity } = yield* stage(spots, one)
      if (descriptor !== undefined) {
        if (durable && staged.length > 1) syncing.start(descriptor, one.target)
        else naming(one.target, () => finish(descriptor, { durable }))
      }
      identities.set(one.path, identity)
      onStep?.("staged")
      yield
    }
  }
  const work = stageEach()
  const slice = attempt(planCodes, () => {
    const until = performance.now() + sliceMs
    while (syncing.count < maximumOpen && performance.now() < until) if (work.next().done === true) return true
    return false
  })
  const room = Effect.suspend(() =>
    syncing.count < maximumOpen ? Effect.void : syncing.untilFewerThan(maximumOpen / 2)
  )
  return repeatUntilDone(Effect.tap(slice, () => room)).pipe(
    // Closes a file that is half written.
    Effect.onInterrupt(() => Effect.sync(() => void work.return())),
    Effect.andThen(Effect.suspend(() => syncing.untilFewerThan(1))),
    Effect.as(identities)
  )
}

type StageError = ErrorWith<(typeof planCodes)[number]>

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL } = constants
const O_NOFOLLOW = constants.O_NOFOLLOW ?? 0

interface StagedFile {
  readonly descriptor: number | undefined
  readonly identity: FileIdentity
}

/** Writes a staged file or link under its temporary name, piece by piece. A file's descriptor is left open. */
function* stage(spots: Spots, { path, node, target: given }: Staged): Work<StagedFile> {
  const target = pathOf(spots.at(path))
  if (node.kind !== "file") {
    return naming(given, () => {
      symlinkSync(node.target ?? "", target)
      return { descriptor: undefined, identity: identityOf(lstatSync(target)) }
    })
  }
  const { scratch, content = [] } = node
  const isTaken = scratch !== undefined && naming(given, () => takeOver(scratch, target))
  const flags = isTaken ? O_RDONLY | O_NOFOLLOW : O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
  const descriptor = naming(given, () => openSync(target, flags, 0o666))
  let isStaged = false
  try {
    let isFirst = true
    for (const piece of isTaken ? [] : content) {
      if (!isFirst) yield
      isFirst = false
      naming(given, () => writeFully(descriptor, piece))
    }
    const identity = naming(given, () => setRights(descriptor, target, node))
    isStaged = true
    return { descriptor, identity }
  } finally {
    if (!isStaged) closeSync(descriptor)
  }
}

/** Gives a new file the owner and the permission bits that were planned for it. */
const setRights = (descriptor: number, target: string, { owner, mode: planned }: FileNode): FileIdentity => {
  const stats = fstatSync(descriptor)
  const isTheirs = giveTo(descriptor, stats, owner ?? otherOwner(dirname(target)) ?? stats)
  // Bits such as set-user-ID must not take effect for another owner.
  const mode = isTheirs ? planned : planned && planned & 0o777
  if (mode !== undefined && mode !== (stats.mode & 0o7777)) fchmodSync(descriptor, mode)
  return identityOf(stats)
}

/** Gives a scratch file its temporary name as a second one; false where it lies on another disk and has to be copied. */
const takeOver = ({ path, identity, size, modified }: ScratchFile, target: string): boolean => {
  const now = lstatSync(path, { throwIfNoEntry: false })
  const isAsPlanned = now !== undefined && isSame(identityOf(now), identity)
  if (!isAsPlanned || now.size !== size || now.mtimeMs !== modified) throw stale(path)
  try {
    linkSync(path, target)
  } catch (error) {
    if (isErrno(error, "EXDEV") || isWithoutLinks(error)) return false
    throw error
  }
  return true
}

/** Takes the names of adopted files in the scratch directory away, once the commit is made: until then it may fail. */
export const removeScratchNames = (staged: ReadonlyArray<Staged>): void => {
  for (const { node } of staged) {
    const { scratch } = node.kind === "file" ? node : {}
    // Entries that can't be removed stay for the owner of the scratch directory, who removes it as a whole.
    if (scratch !== undefined) ignoring(() => unlinkSync(scratch.path), "ENOENT", "EACCES", "EPERM", "EROFS")
  }
}

/** Says whether it is theirs afterwards; only root can give a file to another user. */
const giveTo = (descriptor: number, now: Owner, { uid, gid }: Owner): boolean => {
  if (now.uid === uid && now.gid === gid) return true
  try {
    fchownSync(descriptor, uid, gid)
    return true
  } catch (error) {
    if (isErrno(error, "EPERM", "ENOSYS", "EINVAL")) return false
    throw error
  }
}

const finish = (descriptor: number, { durable }: { readonly durable: boolean }): void => {
  try {
    if (durable) fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Files on their way to the disk, on other threads: it takes several at once in hardly more time than one. */
class Syncing {
  count = 0
  readonly #failures: Array<{ readonly target: string; readonly error: unknown }> = []
  #onEnd: (() => void) | undefined

  /** Closes the descriptor in the end, even where nobody waits any more. */
  start(descriptor: number, target: string): void {
    this.count++
    fsync(descriptor, (failure) => {
      if (failure !== null) this.#failures.push({ target, error: failure })
      try {
        closeSync(descriptor)
      } catch (error) {
        // A network file system may say only now that there was no room.
        this.#failures.push({ target, error })
      }
      this.count--
      this.#onEnd?.()
    })
  }

  /** Not to be interrupted: the descriptors are closed only when the disk has answered. */
  untilFewerThan(most: number): Effect.Effect<void, StageError> {
    const waited = Effect.callback<void>((resume) => {
      this.#onEnd = () => {
        if (this.count < most) resume(Effect.void)
      }
      this.#onEnd()
    })
    const failed = attempt(planCodes, () => {
      for (const { target, error } of this.#failures) {
        naming(target, () => {
          throw error
        })
      }
    })
    return Effect.andThen(this.count < most ? Effect.void : Effect.uninterruptible(waited), failed)
  }
}
