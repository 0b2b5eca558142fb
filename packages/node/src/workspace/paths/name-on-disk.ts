import { lstatSync, readdirSync, realpathSync } from "node:fs"
import { basename, dirname, join, parse, resolve, sep } from "node:path"

import type { Held } from "./handles.ts"

/**
 * Name of a directory entry as the directory lists it. A file system that ignores case, Unicode form or both, or that
 * has short names (8.3) besides the long ones, finds an entry under many names; paths are compared by this one.
 */
export const nameOnDisk = (directory: Held, name: string, isLink: boolean): string => {
  if (isSensitive(directory)) return name
  const path = `${directory.base}/${name}`
  if (systemTellsNames) return (isLink ? undefined : toldName(directory.base, path)) ?? listedName(directory.base, name)
  const other = otherSpelling(name)
  if (other === undefined) return name
  if (isThere(`${directory.base}/${other}`)) return listedName(directory.base, name)
  if (isAscii(other)) sensitive.set(directory, performance.now() + lastsFor)
  return name
}

/** Absolute path without links, each name as its directory lists it. */
export const canonicalPath = (path: string): string => {
  const real = realpathSync.native(path)
  if (systemTellsNames) return real
  const { root } = parse(real)
  let found = root
  for (const name of real.slice(root.length).split(sep)) {
    const other = otherSpelling(name)
    const isAmbiguous = other !== undefined && isThere(join(found, other))
    found = join(found, isAmbiguous ? listedName(found, name) : name)
  }
  return found
}

/** Name without its case and Unicode form, for comparing with other names. */
export const folded = (name: string): string => name.normalize("NFC").toLowerCase()

/** Windows and macOS tell the name of an open file. Elsewhere most file systems have one spelling a name. */
const systemTellsNames = process.platform === "win32" || process.platform === "darwin"

// A directory that is empty can be made to ignore case, so no answer is kept for long.
const lastsFor = 1000

/** Directories in which another case of a name led nowhere, and until when that is believed. */
const sensitive = new WeakMap<Held, number>()

const isSensitive = (directory: Held): boolean => (sensitive.get(directory) ?? 0) > performance.now()

/** Undefined where the system calls it by the name of another directory, as it may do for a file with several names. */
const toldName = (directory: string, path: string): string | undefined => {
  try {
    const real = realpathSync.native(path)
    return dirname(real) === resolve(directory) ? basename(real) : undefined
  } catch {
    return undefined
  }
}

/** Spelling of a name in the other case; undefined for one that has no other spelling. */
const otherSpelling = (name: string): string | undefined => {
  // First those letters that every file system without case knows.
  const upper = name.replaceAll(/[a-z]+/g, (letters) => letters.toUpperCase())
  if (upper !== name) return upper
  const lower = name.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
  if (lower !== name) return lower
  const others = [name.toLowerCase(), name.toUpperCase(), name.normalize("NFC"), name.normalize("NFD")]
  return others.find((other) => other !== name)
}

const isAscii = (name: string): boolean => Buffer.byteLength(name) === name.length

const isThere = (path: string): boolean => {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}

const listedName = (directory: string, name: string): string => {
  const names = namesIn(directory)
  if (names.includes(name)) return name
  const alike = names.filter((one) => folded(one) === folded(name))
  if (alike.length === 1) return alike[0] ?? name
  const found = lstatSync(`${directory}/${name}`, { throwIfNoEntry: false })
  const isSame = (one: string): boolean => {
    const stats = lstatSync(`${directory}/${one}`, { throwIfNoEntry: false })
    return stats !== undefined && stats.ino === found?.ino && stats.dev === found.dev
  }
  return (alike.length > 0 ? alike : names).find(isSame) ?? name
}

// A directory may be entered without being listed; then nobody can tell.
const namesIn = (directory: string): ReadonlyArray<string> => {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}
