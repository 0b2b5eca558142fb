import type { Fit } from "./linear-expression.ts"

/** A text that every match of an expression contains. */
export interface Literal {
  readonly text: string
  /** True where upper and lower case are the same. */
  readonly isFolded: boolean
}

/** Size of a compiled expression times length of a text: what was measured to stay below 50 ms at its worst. */
const mostForOne = 800_000
const mostForAll = 4_000_000
/** Searching for a literal is so much cheaper, per character, than trying an expression. */
const charactersPerWork = 32

/** Budget of one decision, shared by all the rules that it tries. */
export class Effort {
  #left = mostForAll
  readonly #lowerCase = new Map<string, string>()

  /** Takes `work` from what is left. False when that is not enough: then it is not done. */
  spend(work: number): boolean {
    if (work > mostForOne || work > this.#left) return false
    this.#left -= work
    return true
  }

  /** Searches a text for a literal; `unknown` where only the expression can tell, or where it costs too much. */
  finds(text: string, { text: wanted, isFolded }: Literal): Fit {
    if (!this.spend(text.length / charactersPerWork)) return "unknown"
    if (!isFolded) return text.includes(wanted) ? "yes" : "no"
    return this.#inLowerCase(text).includes(lowerCase(wanted)) ? "unknown" : "no"
  }

  #inLowerCase(text: string): string {
    const known = this.#lowerCase.get(text)
    if (known !== undefined) return known
    const made = lowerCase(text)
    this.#lowerCase.set(text, made)
    return made
  }
}

/** Lower case as RE2 folds ASCII letters: there ſ is an s, and the Kelvin sign a k. */
const lowerCase = (text: string): string => text.toLowerCase().replaceAll("ſ", "s")
