import { giveBack, type GramIndex, indexOf, type Literal, mayHave } from "../rules/trigrams.ts"
import type { Fit } from "./linear-expression.ts"

/** Size of a compiled expression times length of a text: what was measured to stay below 50 ms at its worst. */
const mostForOne = 800_000
const mostForAll = 4_000_000
/** Looking for a literal is so much cheaper, by the character, than trying an expression. */
const charactersPerWork = 16

/** From this length on a text gets an index: looking through it once more for every rule would take longer. */
const longText = 2048
/** Of a long list of long texts only the first ones do. */
const mostIndexes = 8

/** What one decision may cost, and what it has learnt about texts: shared by all the rules it tries. */
export class Effort {
  #left = mostForAll
  readonly #indexes: Array<{ readonly text: string; readonly index: GramIndex }> = []

  /** Takes `work` from what is left. False when that is not enough: then it is not done. */
  spend(work: number): boolean {
    if (work > mostForOne || work > this.#left) return false
    this.#left -= work
    return true
  }

  /** Whether a literal stands in a text; `unknown` where only the expression can tell, or where it costs too much. */
  finds(text: string, literal: Literal): Fit {
    const index = text.length < longText ? undefined : (this.#known(text) ?? this.#spareIndex(text))
    if (index !== undefined && !mayHave(index, literal)) return "no"
    if (literal.isFolded || !this.spend(text.length / charactersPerWork)) return "unknown"
    return text.includes(literal.text) ? "yes" : "no"
  }

  /** The index of a text, made once. */
  indexOf(text: string): GramIndex {
    return this.#known(text) ?? this.#add(text)
  }

  /** The decision has been made: what it needed can serve the next one. */
  done(): void {
    for (const { index } of this.#indexes.splice(0)) giveBack(index)
  }

  #known(text: string): GramIndex | undefined {
    for (const known of this.#indexes) if (known.text === text) return known.index
    return undefined
  }

  #spareIndex(text: string): GramIndex | undefined {
    return this.#indexes.length < mostIndexes ? this.#add(text) : undefined
  }

  #add(text: string): GramIndex {
    const index = indexOf(text)
    this.#indexes.push({ text, index })
    return index
  }
}
