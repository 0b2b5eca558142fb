import { randomUUID } from "node:crypto"
import { closeSync, openSync, readFileSync, renameSync, rmSync, statSync, unlinkSync, writeFileSync } from "node:fs"

import { isErrno } from "../errno.ts"
import { startOf } from "../process/proc-stat.ts"

/**
 * Takes a lock that keeps other processes out, or returns undefined while somebody alive has it. A lock is a
 * file that names its owner, so that the lock of a process that died can be taken over.
 */
export const takeLock = (path: string): (() => void) | undefined => {
  const mark = `${process.pid} ${ownStart} ${randomUUID()}\n`
  if (!createIfFree(path, mark)) {
    const holder = readIfThere(path)
    if (holder !== undefined && isAlive(path, holder)) return undefined
    if (holder !== undefined) breakLock(path, holder)
    if (!createIfFree(path, mark)) return undefined
  }
  return () => {
    if (readIfThere(path) === mark) unlinkSync(path)
  }
}

/** True while a living process holds this lock. */
export const isLocked = (path: string): boolean => {
  const holder = readIfThere(path)
  return holder !== undefined && isAlive(path, holder)
}

const createIfFree = (path: string, mark: string): boolean => {
  let descriptor: number
  try {
    descriptor = openSync(path, "wx", 0o600)
  } catch (error) {
    if (isErrno(error, "EEXIST")) return false
    throw error
  }
  try {
    writeFileSync(descriptor, mark)
    return true
  } catch (error) {
    // A lock that there is no room to sign would keep everybody waiting.
    unlinkSync(path)
    throw error
  } finally {
    closeSync(descriptor)
  }
}

// Moved aside and looked at again: when somebody else was quicker and it is a living lock by now, it goes back.
const breakLock = (path: string, holder: string): void => {
  const aside = `${path}.${randomUUID()}`
  try {
    renameSync(path, aside)
  } catch (error) {
    if (isErrno(error, "ENOENT")) return
    throw error
  }
  const moved = readIfThere(aside)
  if (moved !== undefined && moved !== holder) createIfFree(path, moved)
  rmSync(aside, { force: true })
}

const readIfThere = (path: string): string | undefined => {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined
    throw error
  }
}

const isAlive = (path: string, holder: string): boolean => {
  // Not signed to the end: its owner is about to, or died before it could.
  if (!holder.endsWith("\n")) return Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) < 2000
  const [id = "", start = ""] = holder.split(" ")
  return isRunning(Number(id), start)
}

/** True while the process with this number, which started at that time, lives. */
export const isRunning = (id: number, start: string): boolean => {
  try {
    process.kill(id, 0)
  } catch (error) {
    if (!isErrno(error, "EPERM")) return false
  }
  // The number alone is not enough: it may belong to another process by now.
  return start === "" || start === startOf(id)
}

/** When this process started; empty where that can't be told. */
export const ownStart = startOf(process.pid) ?? ""
