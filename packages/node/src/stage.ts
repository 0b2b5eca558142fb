import {
  close,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  openSync,
  statfsSync,
  symlinkSync
} from "node:fs"
import { dirname } from "node:path"

import type { Root } from "./contain.ts"
import { writeFully } from "./content.ts"
import { isErrno, naming } from "./errno.ts"
import { type Identity, identityOf } from "./identity.ts"
import { type Owner, otherOwner } from "./owner.ts"
import { pathOf, type Spots } from "./spots.ts"
import type { Staged } from "./steps.ts"

/** A moment at which others get their turn; with a promise, until it is kept. It is never broken. */
export type Pause = void | Promise<unknown>

interface StageOptions {
  readonly durable: boolean
  readonly onStep?: (name: string) => void
}

const maximumOpen = 128

/** Writes everything under temporary names. Several files are on their way to the disk at once. */
export function* stageAll(
  spots: Spots,
  staged: ReadonlyArray<Staged>,
  { durable, onStep }: StageOptions
): Generator<Pause, Map<string, Identity>> {
  const identities = new Map<string, Identity>()
  const written: Array<Written> = []
  const early = staged.length > 1 && isOnExt4(spots.root)
  const maximum = durable || early ? maximumOpen : 1
  try {
    for (const one of staged) {
      const { descriptor, identity } = naming(one.target, () => stage(spots, one, { early, stays: durable }))
      if (descriptor !== undefined) written.push({ descriptor, target: one.target })
      identities.set(one.path, identity)
      onStep?.("staged")
      if (written.length >= maximum) yield* finishAll(written, { durable })
      yield
    }
    yield* finishAll(written, { durable })
  } finally {
    for (const { descriptor } of written) closeSync(descriptor)
  }
  return identities
}

/** What `statfs` calls ext2, ext3 and ext4. */
const ext4 = 0xef53

const isOnExt4 = ({ held }: Root): boolean => process.platform === "linux" && statfsSync(held.base).type === ext4

const { O_WRONLY, O_CREAT, O_EXCL, O_RDONLY } = constants
const O_NOFOLLOW = constants.O_NOFOLLOW ?? 0

/**
 * Writes a staged file or link under its temporary name. A file's descriptor is left open. `early` gets ext4 to
 * write the file out when a descriptor of it is closed, and not when it is renamed; one `stays` open then.
 */
const stage = (
  spots: Spots,
  { path, node }: Staged,
  { early, stays }: { readonly early: boolean; readonly stays: boolean }
): { readonly descriptor: number | undefined; readonly identity: Identity } => {
  const target = pathOf(spots.at(path))
  if (node.kind !== "file") {
    symlinkSync(node.target ?? "", target)
    return { descriptor: undefined, identity: identityOf(lstatSync(target)) }
  }
  let descriptor = openSync(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666)
  try {
    // ext4 takes a file that was cut to nothing for one that is being replaced, and writes it out when it is closed.
    if (early) ftruncateSync(descriptor, 0)
    for (const piece of node.content ?? []) writeFully(descriptor, piece)
    if (early && stays) descriptor = exchanged(descriptor, target)
    const stats = fstatSync(descriptor)
    const isTheirs = giveTo(descriptor, stats, node.owner ?? otherOwner(dirname(target)) ?? stats)
    // Bits that let others act for the owner must not do so for another one.
    const mode = isTheirs ? node.mode : node.mode && node.mode & 0o777
    if (mode !== undefined && mode !== (stats.mode & 0o7777)) fchmodSync(descriptor, mode)
    return { descriptor, identity: identityOf(stats) }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

/** Another descriptor of the same file, with the first one closed. */
const exchanged = (descriptor: number, path: string): number => {
  const other = openSync(path, O_RDONLY | O_NOFOLLOW)
  closeSync(descriptor)
  return other
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

interface Written {
  readonly descriptor: number
  readonly target: string
}

/**
 * Closes files that are written; with durability, once they would survive a power loss. The disk takes several at once
 * in hardly more time than one.
 */
function* finishAll(written: Array<Written>, options: FinishOptions): Generator<Pause, void> {
  const files = written.splice(0)
  const [first, second] = files
  if (first === undefined) return
  if (second === undefined) {
    naming(first.target, () => finish(first, options))
    return
  }
  const failures: Array<{ readonly target: string; readonly error: Error }> = []
  yield new Promise<void>((resolve) => {
    let left = files.length
    for (const { descriptor, target } of files) {
      finishOnThread(descriptor, options, (error) => {
        if (error !== null && error !== undefined) failures.push({ target, error })
        if (--left === 0) resolve()
      })
    }
  })
  for (const { target, error } of failures) {
    naming(target, () => {
      throw error
    })
  }
}

interface FinishOptions {
  readonly durable: boolean
}

const finish = ({ descriptor }: Written, { durable }: FinishOptions): void => {
  try {
    if (durable) fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const finishOnThread = (descriptor: number, { durable }: FinishOptions, done: (error?: Error | null) => void): void => {
  if (!durable) return close(descriptor, done)
  fsync(descriptor, (error) => {
    closeSync(descriptor)
    done(error)
  })
}
