/** One thing that must hold, and whether it did. */
export interface Figure {
  /** Description of the attack. */
  readonly what: string
  /** How often, or for how long. */
  readonly tried: string
  /** Result, to be compared with the goal. */
  readonly found: string
  readonly goal: string
  readonly isMet: boolean
  /** The first cases that missed the goal. */
  readonly cases?: ReadonlyArray<string>
}

export interface Setting {
  /** How long the attack should go on. One that needs longer to show anything takes longer. */
  readonly seconds: number
  /** For random input: the same number gives the same input. */
  readonly seed: number
}

/** Each file of `src/attacks` exports one as `attack`. It is run in its own process. */
export type Attack = (setting: Setting) => AsyncIterable<Figure>

/** A figure for something that must never happen. */
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

/** Repeats `turn` until the time is over, and returns how often. */
export const forSeconds = async (seconds: number, turn: (count: number) => Promise<void>): Promise<number> => {
  const until = performance.now() + seconds * 1000
  let count = 0
  while (count === 0 || performance.now() < until) await turn(count++)
  return count
}
