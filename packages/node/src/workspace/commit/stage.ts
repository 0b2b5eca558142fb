import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync,
  fsyncSync,
  lstatSync,
  openSync,
  symlinkSync
} from "node:fs"
import { dirname } from "node:path"

import { isErrno, naming } from "../../errno.ts"
import { writeFully } from "../content.ts"
import { pathOf, type Spots } from "../paths/directory-entries.ts"
import { type Identity, identityOf } from "../paths/identity.ts"
import { type Owner, otherOwner } from "./owner.ts"
import type { Staged } from "./steps.ts"

/** A moment at which others get their turn; with a promise, until it resolves. It never rejects. */
export type Pause = void | Promise<unknown>

interface StageOptions {
  readonly durable: boolean
  readonly onStep?: (name: string) => void
}

const maximumOpen = 128

/** Writes everything under temporary names. With durability, a file goes on to the disk while the next ones are written. */
export function* stageAll(
  spots: Spots,
  staged: ReadonlyArray<Staged>,
  { durable, onStep }: StageOptions
): Generator<Pause, Map<string, Identity>> {
  const identities = new Map<string, Identity>()
  const syncing = new Syncing()
  for (const one of staged) {
    const { descriptor, identity } = naming(one.target, () => stage(spots, one))
    if (descriptor !== undefined) {
      if (durable && staged.length > 1) syncing.start(descriptor, one.target)
      else naming(one.target, () => finish(descriptor, { durable }))
    }
    identities.set(one.path, identity)
    onStep?.("staged")
    if (syncing.count >= maximumOpen) yield* syncing.untilFewerThan(maximumOpen / 2)
    yield
  }
  yield* syncing.untilFewerThan(1)
  return identities
}

const { O_WRONLY, O_CREAT, O_EXCL } = constants
const O_NOFOLLOW = constants.O_NOFOLLOW ?? 0

/** Writes a staged file or link under its temporary name. A file's descriptor is left open. */
const stage = (
  spots: Spots,
  { path, node }: Staged
): { readonly descriptor: number | undefined; readonly identity: Identity } => {
  const target = pathOf(spots.at(path))
  if (node.kind !== "file") {
    symlinkSync(node.target ?? "", target)
    return { descriptor: undefined, identity: identityOf(lstatSync(target)) }
  }
  const descriptor = openSync(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666)
  try {
    for (const piece of node.content ?? []) writeFully(descriptor, piece)
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

  *untilFewerThan(most: number): Generator<Pause, void> {
    if (this.count >= most) {
      yield new Promise<void>((resolve) => {
        this.#onEnd = () => {
          if (this.count < most) resolve()
        }
      })
    }
    for (const { target, error } of this.#failures) {
      naming(target, () => {
        throw error
      })
    }
  }
}
