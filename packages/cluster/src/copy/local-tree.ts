import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { chmod, lstat, mkdir, readdir, readFile, readlink, rename, rm, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"

import { type ManifestEntry, isSameEntry, type Manifest } from "../storage/manifest.ts"

/** Names of directories that are not carried over: what they hold is installed or built again. */
const leftOutNames: ReadonlyArray<string> = ["node_modules", ".venv", "__pycache__"]

export interface TreeOptions {
  readonly root: string
  /** True for secret files: they are never read, and stay as they are on this member. */
  readonly isSecret: (path: string) => boolean
  readonly maximumBytes: number
}

/** A file as it was when it was hashed, so that an unchanged one is not read again. */
export type KnownFiles = Map<string, { readonly stamp: string; readonly entry: ManifestEntry }>

export interface ScannedTree {
  readonly entries: Manifest
  /** Paths that are not carried over to other members, directories with a slash at the end. */
  readonly notCarried: ReadonlyArray<string>
}

/** Lists and hashes everything below a directory. Links are not followed; what is neither file, directory nor link is left out. */
export const scanTree = async (options: TreeOptions, known: KnownFiles): Promise<ScannedTree> => {
  const { root, isSecret, maximumBytes } = options
  const entries: Manifest = new Map()
  const notCarried: Array<string> = []
  const scanDirectory = async (directory: string): Promise<void> => {
    const found = await readdir(join(root, directory), { withFileTypes: true }).catch(ifGone([]))
    for (const one of found.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = directory === "" ? one.name : `${directory}/${one.name}`
      if (isTemporary(one.name)) continue
      if (one.isDirectory()) {
        if (leftOutNames.includes(one.name)) notCarried.push(`${path}/`)
        else {
          entries.set(path, { kind: "directory" })
          await scanDirectory(path)
        }
      } else if (isSecret(path) || (!one.isFile() && !one.isSymbolicLink())) notCarried.push(path)
      else {
        const entry = await entryOf(path, one.isSymbolicLink())
        if (entry === "too_large") notCarried.push(path)
        else if (entry !== undefined) entries.set(path, entry)
      }
    }
  }
  const entryOf = async (path: string, isLink: boolean): Promise<ManifestEntry | "too_large" | undefined> => {
    const absolute = join(root, path)
    if (isLink) {
      const target = await readlink(absolute).catch(ifGone(undefined))
      return target === undefined ? undefined : { kind: "symlink", target }
    }
    const info = await lstat(absolute, { bigint: true }).catch(ifGone(undefined))
    if (info === undefined || !info.isFile()) return undefined
    if (info.size > maximumBytes) return "too_large"
    const stamp = `${info.ino}:${info.size}:${info.mtimeNs}:${info.ctimeNs}`
    const before = known.get(path)
    if (before?.stamp === stamp) return before.entry
    const hash = createHash("sha256")
    const isRead = await pipeline(createReadStream(absolute), hash).then(() => true, ifGone(false))
    if (!isRead) return undefined
    const size = Number(info.size)
    const entry = {
      kind: "file",
      sha256: hash.digest("hex"),
      size,
      ...(isExecutable(info.mode) && { executable: true as const })
    } as const
    known.set(path, { stamp, entry })
    return entry
  }
  await scanDirectory("")
  for (const path of known.keys()) if (!entries.has(path)) known.delete(path)
  return { entries, notCarried }
}

/** Makes a directory hold what a manifest says. What is secret or left out stays; anything else that is there goes. */
export const restoreTree = async (
  options: TreeOptions,
  manifest: Manifest,
  content: (sha256: string) => Promise<Uint8Array>
): Promise<{ readonly known: KnownFiles; readonly notCarried: ReadonlyArray<string> }> => {
  const { root } = options
  for (const path of manifest.keys()) requirePlain(path)
  await mkdir(root, { recursive: true, mode: 0o700 })
  const known: KnownFiles = new Map()
  const { entries, notCarried } = await scanTree(options, known)
  for (const [path, entry] of entries) {
    const wanted = manifest.get(path)
    if (wanted === undefined || wanted.kind !== entry.kind) await rm(join(root, path), { recursive: true, force: true })
  }
  for (const [path, entry] of manifest) {
    if (entry.kind === "directory") await mkdir(join(root, path), { recursive: true })
  }
  const missing = [...manifest].filter(
    ([path, entry]) => entry.kind !== "directory" && !isSameEntry(entry, entries.get(path))
  )
  for (let start = 0; start < missing.length; start += 8) {
    await Promise.all(missing.slice(start, start + 8).map(([path, entry]) => put(join(root, path), entry, content)))
  }
  return { known, notCarried }
}

const put = async (
  path: string,
  entry: ManifestEntry,
  content: (sha256: string) => Promise<Uint8Array>
): Promise<void> => {
  const incoming = `${path}.haft-restored`
  await rm(incoming, { force: true })
  if (entry.kind === "symlink") await symlink(entry.target, incoming)
  else if (entry.kind === "file") {
    await writeFile(incoming, await content(entry.sha256))
    if (entry.executable === true) await chmod(incoming, 0o755)
  }
  await rename(incoming, path)
}

/** The content of a file, for the log. Undefined when it is gone or has changed since it was hashed. */
export const readHashed = async (root: string, path: string, sha256: string): Promise<Uint8Array | undefined> => {
  const content = await readFile(join(root, path)).catch(ifGone(undefined))
  if (content === undefined) return undefined
  return createHash("sha256").update(content).digest("hex") === sha256 ? content : undefined
}

// Leftovers of a commit that was cut short, and of a restore.
const isTemporary = (name: string): boolean =>
  /^\.haft-[0-9a-f]{16}-\d+\.tmp$/.test(name) || name.endsWith(".haft-restored")

const isExecutable = (mode: bigint): boolean => (mode & 0o111n) !== 0n

const requirePlain = (path: string): void => {
  const isPlain =
    path !== "" && path.split("/").every((name) => !["", ".", ".."].includes(name)) && !path.includes("\0")
  if (!isPlain) throw new Error(`the commit log names ${JSON.stringify(path)}, which is not a path inside a workspace`)
}

const ifGone =
  <A>(value: A) =>
  (error: unknown): A => {
    if (
      error instanceof Error &&
      "code" in error &&
      ["ENOENT", "ENOTDIR", "EACCES", "EISDIR"].includes(String(error.code))
    )
      return value
    throw error
  }
