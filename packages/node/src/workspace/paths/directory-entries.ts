import { enterAll, type Root } from "./containment.ts"
import type { Held } from "./handles.ts"

/** A name in a directory that is held; whether something has that name, nobody looked. */
export interface Spot {
  readonly directory: Held
  readonly name: string
}

export const pathOf = ({ directory, name }: Spot): string => `${directory.base}/${name}`

const maximumHeld = 16

/**
 * Spots whose directories stay held from one to the next, because most files of a commit share a few directories.
 * A directory that was exchanged meanwhile is still the old one here: forget before a path has to be found anew.
 */
export class Spots {
  readonly root: Root
  readonly #held = new Map<string, Held>()

  constructor(root: Root) {
    this.root = root
  }

  /** Good until some more spots have been asked for; a step of a commit needs three. */
  at(path: string): Spot {
    const end = path.lastIndexOf("/")
    if (end === -1 && this.root.named?.has(path) === true) return { directory: this.directory(path), name: "." }
    if (end === -1) return { directory: this.root.held, name: path }
    return { directory: this.directory(path.slice(0, end), path), name: path.slice(end + 1) }
  }

  /** The directory itself. Failures name `given`. */
  directory(path: string, given = path): Held {
    return path === "." ? this.root.held : this.#enter(path, given)
  }

  forget(): void {
    for (const held of this.#held.values()) held.close()
    this.#held.clear()
  }

  #enter(path: string, given: string): Held {
    const known = this.#held.get(path)
    this.#held.delete(path)
    const held = known ?? enterAll(this.root, given, path.split("/"))
    this.#held.set(path, held)
    for (const [oldest, directory] of this.#held) {
      if (this.#held.size <= maximumHeld) break
      this.#held.delete(oldest)
      directory.close()
    }
    return held
  }
}

/** Spots for one piece of work. */
export const withSpots = <A>(root: Root, use: (spots: Spots) => A): A => {
  const spots = new Spots(root)
  try {
    return use(spots)
  } finally {
    spots.forget()
  }
}
