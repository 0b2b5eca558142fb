import type { Root } from "./containment.ts"
import type { Held } from "./handles.ts"

const maximumHeld = 64

/**
 * Hands over a root that holds on to the directories on the way, for work on many files beside each other: a path is
 * resolved like any other, but what it shares with those before is not opened again. A directory that is exchanged
 * meanwhile is still the old one here, so `use` must not take long.
 */
export const withTrail = <A>(root: Root, use: (next: () => Root) => A): A => {
  const kept = new Map<string, Kept>()
  const forget = () => {
    for (const { held } of kept.values()) held.close()
    kept.clear()
  }
  const enter = (directory: string, name: string | Buffer): Held => {
    const key = `${directory}/${String(name)}`
    const known = kept.get(key)
    if (known !== undefined) return known
    const entered = root.technique.enter(directory, name)
    // What is not kept is closed by whoever entered it. Nothing below it is kept either, since there is no room:
    // its descriptor's number may soon mean another directory.
    if (kept.size >= maximumHeld) return entered
    const directoryKept = new Kept(entered)
    kept.set(key, directoryKept)
    return directoryKept
  }
  const along: Root = { ...root, technique: { ...root.technique, enter } }
  try {
    return use(() => {
      if (kept.size >= maximumHeld) forget()
      return along
    })
  } finally {
    forget()
  }
}

/** Closing it leaves it open: others come this way. */
class Kept implements Held {
  readonly held: Held
  readonly base: string

  constructor(held: Held) {
    this.held = held
    this.base = held.base
  }

  get stats(): Held["stats"] {
    return this.held.stats
  }

  close(): void {}
}
