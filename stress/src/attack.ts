/** One thing that must hold, and whether it did. */
export interface Figure {
  /** What was done. */
  readonly what: string
  /** How often, or for how long. */
  readonly tried: string
  /** What was found, beside what is allowed. */
  readonly found: string
  readonly goal: string
  readonly isMet: boolean
  /** The first cases that missed it, for whoever mends them. */
  readonly cases?: ReadonlyArray<string>
}

export interface Setting {
  /** How long this attack is to go on. One that needs longer to mean anything takes longer. */
  readonly seconds: number
  /** Chooses what is made up; the same number makes up the same. */
  readonly seed: number
}

/** A file of `src/attacks` exports this as `attack`. It has a process to itself. */
export type Attack = (setting: Setting) => AsyncIterable<Figure>

/** A figure of things that must not happen at all. */
export const none = (what: string, tried: string, cases: ReadonlyArray<string>): Figure => ({
  what,
  tried,
  found: String(cases.length),
  goal: "0",
  isMet: cases.length === 0,
  cases: cases.slice(0, 5)
})

/** A figure with an upper bound. */
export const atMost = (what: string, tried: string, found: number, most: number, unit = ""): Figure => ({
  what,
  tried,
  found: `${Math.round(found)}${unit}`,
  goal: `≤ ${most}${unit}`,
  isMet: found <= most
})

/** Does something again and again until the time is up, and says how often it did. */
export const forSeconds = async (seconds: number, turn: (count: number) => Promise<void>): Promise<number> => {
  const until = performance.now() + seconds * 1000
  let count = 0
  while (count === 0 || performance.now() < until) await turn(count++)
  return count
}
