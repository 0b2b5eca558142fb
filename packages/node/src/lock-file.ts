import { randomBytes } from "node:crypto"
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"

import { isErrno } from "./errno.ts"

/**
 * Takes a lock that keeps other processes out, or returns undefined while somebody alive has it. A lock is a
 * file that names its owner, so that the lock of a process that died can be taken over.
 */
export const takeLock = (path: string): (() => void) | undefined => {
  const mark = `${process.pid} ${startOf(process.pid)} ${randomBytes(6).toString("hex")}`
  const own = `${path}.${randomBytes(6).toString("hex")}`
  writeFileSync(own, mark, { flag: "wx", mode: 0o600 })
  try {
    if (!linkIfFree(own, path)) {
      const holder = readIfThere(path)
      if (holder !== undefined && isAlive(holder)) return undefined
      if (holder !== undefined) breakLock(path, holder)
      if (!linkIfFree(own, path)) return undefined
    }
  } finally {
    rmSync(own, { force: true })
  }
  return () => {
    if (readIfThere(path) === mark) rmSync(path, { force: true })
  }
}

const linkIfFree = (own: string, path: string): boolean => {
  try {
    linkSync(own, path)
    return true
  } catch (error) {
    if (isErrno(error, "EEXIST")) return false
    throw error
  }
}

// Moved aside and looked at again: when somebody else was quicker and it is a living lock by now, it goes back.
const breakLock = (path: string, holder: string): void => {
  const aside = `${path}.${randomBytes(6).toString("hex")}`
  try {
    renameSync(path, aside)
  } catch (error) {
    if (isErrno(error, "ENOENT")) return
    throw error
  }
  if (readIfThere(aside) !== holder) linkIfFree(aside, path)
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

const isAlive = (holder: string): boolean => {
  const [id = "", start = ""] = holder.split(" ")
  try {
    process.kill(Number(id), 0)
  } catch (error) {
    if (!isErrno(error, "EPERM")) return false
  }
  // The number alone is not enough: it may belong to another process by now.
  return start === "" || start === startOf(Number(id))
}

/** When a process started, in the kernel's own count; empty where that can't be told. */
const startOf = (id: number): string => {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, "utf8")
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? ""
  } catch {
    return ""
  }
}
