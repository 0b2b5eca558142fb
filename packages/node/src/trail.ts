import type { Root } from "./contain.ts"
import type { Held } from "./technique.ts"

const maximumHeld = 64

/**
 * Hands over a root that holds on to the directories on the way, for work on many files beside each other: a path is
 * resolved like any other, but what it shares with those before is not opened again. A directory that is exchanged
 * meanwhile is still the old one here, so `use` must not take long.
 */
export const withTrail = <A>(root: Root, use: (next: () => Root) => A): A => {
  const held = new Map<string, Held>()
  const forget = () => {
    for (const directory of held.values()) directory.close()
    held.clear()
  }
  const enter = (directory: string, name: string | Buffer): Held => {
    const key = `${directory}/${String(name)}`
    const known = held.get(key)
    if (known !== undefined) return keptOpen(known)
    const entered = root.technique.enter(directory, name)
    // What is not kept is closed by whoever entered it. Nothing below it is kept either, since there is no room:
    // its descriptor's number may soon mean another directory.
    if (held.size >= maximumHeld) return entered
    held.set(key, entered)
    return keptOpen(entered)
  }
  const along: Root = { ...root, technique: { ...root.technique, enter } }
  try {
    return use(() => {
      if (held.size >= maximumHeld) forget()
      return along
    })
  } finally {
    forget()
  }
}

const keptOpen = (held: Held): Held => ({
  base: held.base,
  get stats() {
    return held.stats
  },
  close: () => {}
})
