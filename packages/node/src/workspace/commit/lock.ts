import { randomUUID } from "node:crypto"
import { closeSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, rmdirSync } from "node:fs"
import { join } from "node:path"

import { makeToolError, type ToolError } from "@haft/core"
import { stepSpan } from "@haft/core/internal"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Semaphore from "effect/Semaphore"

import { attempt, ignoring, isErrno, namingState } from "../../errno.ts"
import { isRunning, ownStart } from "../../state/lock-file.ts"
import type { KeptPlace } from "../paths/last-path-cache.ts"

export interface Turns {
  /** Between processes. */
  readonly takeTurn: TakeTurn
  /** Within this process. */
  readonly turn: Semaphore.Semaphore
  readonly kept: KeptPlace
}

/** One commit at a time: in this process by a semaphore, between processes by a turn in the state directory. */
export const exclusively = <A, E, R>(
  { takeTurn, turn, kept }: Turns,
  work: Effect.Effect<A, E, R>
): Effect.Effect<A, E | ToolError<"write_failed">, R> => {
  const take = attempt(["write_failed"], () => {
    // A path that was looked at a moment ago may be another file after this commit.
    kept.forget()
    const release = namingState(takeTurn)
    if (release !== undefined) return release
    throw makeToolError("write_failed", "another host is changing this workspace; nothing was changed", {
      suggestion: "Repeat the call in a moment.",
      retryable: true
    })
  })
  const patient = take.pipe(
    Effect.retry({ schedule: Schedule.max([Schedule.spaced("10 millis"), Schedule.recurs(1000)]), while: isPassing })
  )
  return Effect.acquireUseRelease(
    patient,
    () => work,
    (release) => Effect.sync(release)
  ).pipe(turn.withPermits(1), stepSpan("commit"))
}

const isPassing = ({ retryable }: ToolError): boolean => retryable === true

/** Takes the turn, and returns how to give it back; undefined while somebody alive has it. */
export type TakeTurn = () => (() => void) | undefined

/**
 * The turn to commit, which one host at a time has. It is a file that is named after who has it, so that taking it and
 * giving it back is a rename each: on some disks making and removing a file takes longer than many a commit.
 */
export const openTurn = (directory: string): TakeTurn => {
  const own = `${process.pid}.${ownStart}.${randomUUID()}`
  const rename = (from: string, to: string): boolean => {
    try {
      renameSync(join(directory, from), join(directory, to))
      return true
    } catch (error) {
      // On Windows a virus scanner may have it open for a moment.
      const isPassing = process.platform === "win32" && isErrno(error, "EPERM", "EACCES", "EBUSY")
      if (isPassing || isErrno(error, "ENOENT")) return false
      throw error
    }
  }
  const giveBack = () => void rename(own, nobody)

  return () => {
    if (rename(nobody, own)) return giveBack
    const holders = holdersIn(directory)
    const [first, ...others] = holders
    // Not given back the last time. Within this process a semaphore lets one have it at a time.
    if (first === own) return giveBack
    if (first === undefined) {
      makeTurn(directory)
      return rename(nobody, own) ? giveBack : undefined
    }
    // Several hosts may find the holder gone, and the rename succeeds for one. A power cut may have left several names.
    if (holders.some(isHeld) || !rename(first, own)) return undefined
    for (const name of others) rmSync(join(directory, name), { force: true })
    return giveBack
  }
}

const nobody = "nobody"

const isHeld = (name: string): boolean => {
  const [id = "", start = ""] = name.split(".")
  return name === nobody || isRunning(Number(id), start)
}

const holdersIn = (directory: string): ReadonlyArray<string> => {
  try {
    return readdirSync(directory).toSorted()
  } catch (error) {
    if (isErrno(error, "ENOENT")) return []
    throw error
  }
}

/** Made elsewhere, with its directory, and renamed as a whole: of two hosts that find no turn, only one makes it. */
const makeTurn = (directory: string): void => {
  const made = `${directory}.${randomUUID()}`
  mkdirSync(made, { mode: 0o700 })
  try {
    closeSync(openSync(join(made, nobody), "wx", 0o600))
    ignoring(() => rmdirSync(directory), "ENOENT", "ENOTEMPTY", "EEXIST")
    ignoring(() => renameSync(made, directory), "ENOTEMPTY", "EEXIST", "EPERM")
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}
