import { lstatSync, type Stats } from "node:fs"

import { dependencyDirectories, type SecretPathMatcher, secretPathMatcher } from "@haft/core/internal"

import { isErrno, secretPath } from "../../errno.ts"
import type { Origin } from "../commit/planned-tree.ts"
import type { Place, Root } from "../paths/containment.ts"
import { rootAndRest } from "../paths/named-roots.ts"
import { startWalk } from "../walk.ts"
import { GitIndexes } from "./git-index.ts"

/** Secret files of a workspace: by their path, and for a hard link by the file that it is. */
export class SecretFiles {
  readonly #root: Root
  readonly #match: SecretPathMatcher
  readonly #indexes = new GitIndexes()
  #present: PresentFiles | undefined

  constructor(root: Root, globs: ReadonlyArray<string> = []) {
    this.#root = root
    this.#match = secretPathMatcher(globs)
  }

  /** True for a path of the workspace, without links, that is secret by its names. */
  isSecretPath(path: string): boolean {
    const { root, rest } = rootAndRest(this.#root, path)
    const found = this.#match(rest)
    return found !== undefined && !(found.onlyUntracked === true && this.#indexes.tracks(`${root}/${rest}`))
  }

  /** True for a secret path, and for another name of a file that has one. */
  isSecretFile(path: string, stats: Pick<Stats, "nlink" | "dev" | "ino" | "isFile"> | undefined): boolean {
    if (this.isSecretPath(path)) return true
    return stats !== undefined && stats.nlink > 1 && stats.isFile() && this.#linkedFiles().has(identityOf(stats))
  }

  /** True for what a plan found at a secret path, or under another name of a file that has one. */
  isSecretOrigin({ path, links, identity }: Pick<Origin, "path" | "links" | "identity">): boolean {
    return this.isSecretPath(path) || (links > 1 && this.#linkedFiles().has(`${identity.device}:${identity.number}`))
  }

  /** As {@link isSecretFile}, of what is at a path now. */
  isSecret(path: string): boolean {
    return this.isSecretFile(path, statsOf(this.#onDisk(path)))
  }

  /** Refuses what would hand out the content of a secret file. */
  check({ path, given, found }: Pick<Place, "path" | "given" | "found">): void {
    if (found?.stats.isFile() === true && this.isSecretFile(path, found.stats)) throw secretPath(given)
  }

  /** Paths of all secret files below a directory, in order; those among installed packages are passed over. */
  below(directory: string): ReadonlyArray<string> {
    const found: Array<string> = []
    const walk = startWalk(this.#root, directory, {
      visit: ({ path, name, kind }) => {
        if (kind === "directory") return name === ".git" || dependencyDirectories.includes(name) ? "skip" : "continue"
        const whole = directory === "." ? path : `${directory}/${path}`
        if (kind === "file" && this.isSecretPath(whole)) found.push(whole)
        return "continue"
      }
    })
    while (!walk.advance(Number.POSITIVE_INFINITY));
    return found
  }

  /** Absolute paths of all secret files outside of installed packages, and of their other names (hard links). */
  present(): ReadonlyArray<string> {
    return this.#look().paths
  }

  /** Device and inode of secret files that have more than one name. */
  #linkedFiles(): ReadonlySet<string> {
    return this.#look().linked
  }

  #look(): PresentFiles {
    const now = performance.now()
    if (this.#present !== undefined && now < this.#present.until) return this.#present
    const linked = new Set<string>()
    const named = this.below(".").map((path) => this.#onDisk(path))
    for (const path of named) {
      const stats = statsOf(path)
      if (stats !== undefined && stats.nlink > 1) linked.add(identityOf(stats))
    }
    const paths = linked.size === 0 ? named : [...new Set([...named, ...this.#namesOf(linked)])]
    const took = performance.now() - now
    // No more than a fiftieth of the time goes into looking.
    this.#present = { paths, linked, until: performance.now() + Math.max(leastKeptMs, 50 * took) }
    return this.#present
  }

  /** Every path of the workspace that leads to one of these files, installed packages and repositories included. */
  #namesOf(files: ReadonlySet<string>): ReadonlyArray<string> {
    const found: Array<string> = []
    const walk = startWalk(this.#root, ".", {
      visit: ({ path, kind }) => {
        if (kind !== "file") return "continue"
        const onDisk = this.#onDisk(path)
        const stats = statsOf(onDisk)
        if (stats !== undefined && stats.nlink > 1 && files.has(identityOf(stats))) found.push(onDisk)
        return "continue"
      }
    })
    while (!walk.advance(Number.POSITIVE_INFINITY));
    return found
  }

  #onDisk(path: string): string {
    const { root, rest } = rootAndRest(this.#root, path)
    return `${root}/${rest}`
  }
}

interface PresentFiles {
  readonly paths: ReadonlyArray<string>
  /** Device and inode of those that have more than one name. */
  readonly linked: ReadonlySet<string>
  readonly until: number
}

const statsOf = (path: string): Stats | undefined => {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (isErrno(error, "EACCES", "ENOTDIR", "ELOOP")) return undefined
    throw error
  }
}

/** How long the secret files that were found are remembered at least. */
const leastKeptMs = 200

const identityOf = ({ dev, ino }: Pick<Stats, "dev" | "ino">): string => `${dev}:${ino}`
