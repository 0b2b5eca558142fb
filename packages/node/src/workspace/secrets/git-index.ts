import { readFileSync, statSync } from "node:fs"
import { dirname, join, relative, resolve, sep } from "node:path"

/** Files that git tracks, read from the index of the repository that a path lies in. */
export class GitIndexes {
  readonly #known = new Map<string, { readonly version: string; readonly paths: ReadonlySet<string> }>()

  /** True for a path that git tracks. False where that can't be told, such as for a split index. */
  tracks(path: string): boolean {
    const repository = repositoryOf(dirname(path))
    if (repository === undefined) return false
    return this.#paths(repository.index).has(relative(repository.top, path).split(sep).join("/"))
  }

  #paths(index: string): ReadonlySet<string> {
    const { mtimeMs, size, ino } = statSync(index, { throwIfNoEntry: false }) ?? { mtimeMs: 0, size: 0, ino: 0 }
    const version = `${mtimeMs} ${size} ${ino}`
    const known = this.#known.get(index)
    if (known?.version === version) return known.paths
    const paths = new Set(size === 0 ? [] : trackedPaths(readFileSync(index)))
    this.#known.set(index, { version, paths })
    return paths
  }
}

/** The working tree around a directory, and its index. */
const repositoryOf = (directory: string): { readonly top: string; readonly index: string } | undefined => {
  const place = join(directory, ".git")
  const stats = statSync(place, { throwIfNoEntry: false })
  if (stats?.isDirectory() === true) return { top: directory, index: join(place, "index") }
  if (stats?.isFile() === true) {
    // A linked working tree and a submodule have a file that says where the rest is.
    const [, elsewhere] = /^gitdir: (.+?)\r?\n?$/su.exec(readFileSync(place, "utf8")) ?? []
    return elsewhere === undefined ? undefined : { top: directory, index: join(resolve(directory, elsewhere), "index") }
  }
  const above = dirname(directory)
  return above === directory ? undefined : repositoryOf(above)
}

/** Paths in an index of format version 2, 3 or 4, with hashes of 20 or 32 bytes; none where it can't be read. */
const trackedPaths = (index: Buffer): ReadonlyArray<string> => {
  if (index.length < 12 || index.toString("latin1", 0, 4) !== "DIRC") return []
  return entriesOf(index, 20) ?? entriesOf(index, 32) ?? []
}

const statBytes = 40
const extendedFlag = 0x4000
/** The lowest bits of an entry's flags: the length of its name, or as much as fits. */
const nameLength = 0x0fff

const entriesOf = (index: Buffer, hashBytes: number): ReadonlyArray<string> | undefined => {
  const [version, count] = [index.readUInt32BE(4), index.readUInt32BE(8)]
  const paths: Array<string> = []
  let previous = Buffer.alloc(0)
  let at = 12
  while (paths.length < count) {
    const flagsAt = at + statBytes + hashBytes
    if (flagsAt + 4 > index.length || !isMode(index.readUInt32BE(at + 24))) return undefined
    let nameAt = flagsAt + 2 + ((index.readUInt16BE(flagsAt) & extendedFlag) === 0 ? 0 : 2)
    let kept = previous.subarray(0, 0)
    if (version === 4) {
      const { value, next } = offsetAt(index, nameAt)
      if (value > previous.length) return undefined
      kept = previous.subarray(0, previous.length - value)
      nameAt = next
    }
    const end = index.indexOf(0, nameAt)
    if (end < 0) return undefined
    previous = Buffer.concat([kept, index.subarray(nameAt, end)])
    // With hashes of the other length this would be something else.
    if (Math.min(previous.length, nameLength) !== (index.readUInt16BE(flagsAt) & nameLength)) return undefined
    paths.push(previous.toString())
    // Before version 4 an entry is padded with 1 to 8 NUL bytes to a multiple of eight.
    at = version === 4 ? end + 1 : at + 8 * Math.ceil((end + 1 - at) / 8)
  }
  return paths
}

/** A regular file, a symbolic link, a submodule, or a directory of a sparse index. */
const isMode = (mode: number): boolean => [0o10, 0o12, 0o16, 0o04].includes(mode >>> 12)

/** A number of variable length: seven bits a byte, each but the last with the eighth bit set, and one added for each. */
const offsetAt = (index: Buffer, start: number): { readonly value: number; readonly next: number } => {
  let [value, next] = [0, start]
  for (;;) {
    const byte = index[next++] ?? 0
    value = value * 128 + (byte & 127)
    if ((byte & 128) === 0) return { value, next }
    value += 1
  }
}
