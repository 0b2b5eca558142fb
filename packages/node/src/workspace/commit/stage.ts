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
import { type Owner, otherOwner } from "./owner.ts"
import type { ScratchFile } from "./planned-tree.ts"
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
  const stageOne = (one: Staged): void => {
    const { descriptor, identity } = naming(one.target, () => stage(spots, one))
    if (descriptor !== undefined) {
      if (durable && staged.length > 1) syncing.start(descriptor, one.target)
      else naming(one.target, () => finish(descriptor, { durable }))
    }
    identities.set(one.path, identity)
    onStep?.("staged")
  }
  let next = 0
  const slice = attempt(planCodes, () => {
    const until = performance.now() + sliceMs
    for (let one = staged[next]; one !== undefined; one = staged[next]) {
      next++
      stageOne(one)
      if (syncing.count >= maximumOpen || performance.now() > until) break
    }
    return next === staged.length
  })
  const room = Effect.suspend(() =>
    syncing.count < maximumOpen ? Effect.void : syncing.untilFewerThan(maximumOpen / 2)
  )
  return repeatUntilDone(Effect.tap(slice, () => room)).pipe(
    Effect.andThen(Effect.suspend(() => syncing.untilFewerThan(1))),
    Effect.as(identities)
  )
}

type StageError = ErrorWith<(typeof planCodes)[number]>

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL } = constants
const O_NOFOLLOW = constants.O_NOFOLLOW ?? 0

/** Writes a staged file or link under its temporary name. A file's descriptor is left open. */
const stage = (
  spots: Spots,
  { path, node }: Staged
): { readonly descriptor: number | undefined; readonly identity: FileIdentity } => {
  const target = pathOf(spots.at(path))
  if (node.kind !== "file") {
    symlinkSync(node.target ?? "", target)
    return { descriptor: undefined, identity: identityOf(lstatSync(target)) }
  }
  const isTaken = node.scratch !== undefined && takeOver(node.scratch, target)
  const descriptor = openSync(target, isTaken ? O_RDONLY | O_NOFOLLOW : O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666)
  try {
    if (!isTaken) for (const piece of node.content ?? []) writeFully(descriptor, piece)
    const stats = fstatSync(descriptor)
    const isTheirs = giveTo(descriptor, stats, node.owner ?? otherOwner(dirname(target)) ?? stats)
    // Bits such as set-user-ID must not take effect for another owner.
    const mode = isTheirs ? node.mode : node.mode && node.mode & 0o777
    if (mode !== undefined && mode !== (stats.mode & 0o7777)) fchmodSync(descriptor, mode)
    return { descriptor, identity: identityOf(stats) }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
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
