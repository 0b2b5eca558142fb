import { readlinkSync } from "node:fs"

import type { Held } from "./handles.ts"

const maximumHeld = 32
const lastsFor = 1000

/**
 * Directories that were walked to a moment ago, still held: the next file in one of them is reached without another
 * walk. The system is asked each time whether a directory is where it was, with no link on the way; one that was moved,
 * removed or exchanged for a link is walked to anew. None is held for longer than a second, so that a disk below can be
 * taken away, or another put there.
 */
export class LatelyHeld {
  readonly #realPath: (names: ReadonlyArray<string>) => string
  readonly #directories = new Map<string, Shared>()
  #timer: NodeJS.Timeout | undefined

  /** `realPath` tells where a directory lies, without links. */
  constructor(realPath: (names: ReadonlyArray<string>) => string) {
    this.#realPath = realPath
  }

  /** The directory that names lead to from the root on; whoever gets it closes it. */
  find(names: ReadonlyArray<string>): Held | undefined {
    if (this.#directories.size === 0) return undefined
    const path = names.join("/")
    const directory = this.#directories.get(path)
    if (directory === undefined) return undefined
    if (directory.isAt(this.#realPath(names))) return directory.share()
    this.#drop(path, directory)
    return undefined
  }

  /** Takes over a directory that was walked to. What comes back is closed in its place. */
  keep(names: ReadonlyArray<string>, held: Held): Held {
    // It is one of those kept here, or is known by its name only.
    if (held.lookAgain === undefined) return held
    const path = names.join("/")
    if (this.#directories.has(path) || isAmbiguous(this.#realPath(names))) return held
    const directory = new Shared(held)
    this.#directories.set(path, directory)
    for (const [oldest, shared] of this.#directories) {
      if (this.#directories.size <= maximumHeld) break
      this.#drop(oldest, shared)
    }
    this.#timer ??= setTimeout(() => this.forget(), lastsFor).unref()
    return directory.share()
  }

  forget(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const [path, directory] of this.#directories) this.#drop(path, directory)
  }

  #drop(path: string, directory: Shared): void {
    this.#directories.delete(path)
    directory.close()
  }
}

/** True for a path that the system could give for another directory, too: a name that is not UTF-8, or one that is gone. */
const isAmbiguous = (path: string): boolean => path.includes("\u{FFFD}") || path.endsWith(" (deleted)")

/** A held thing that several use; the last one to close it lets it go. */
class Shared implements Held {
  readonly base: string
  readonly #held: Held
  #users = 1

  constructor(held: Held) {
    this.base = held.base
    this.#held = held
  }

  get stats(): Held["stats"] {
    return this.#held.stats
  }

  isAt(path: string): boolean {
    try {
      return readlinkSync(this.base) === path
    } catch {
      // The path is longer than the system tells.
      return false
    }
  }

  share(): Held {
    this.#users++
    return this
  }

  close(): void {
    if (--this.#users === 0) this.#held.close()
  }
}
