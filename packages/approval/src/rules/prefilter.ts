import type { Effort } from "../matching/match-budget.ts"
import { type GramIndex, hasGrams, type Literal } from "./trigrams.ts"

/** A text of a call in which literals are looked for. */
export interface Place<Subject> {
  /** Two places of one name are the same. */
  readonly name: string
  /** Undefined where it can't be told what stands there: then everything may. */
  readonly textOf: (subject: Subject) => string | undefined
}

/** A literal that must stand in a call. */
export interface Need<Subject> {
  readonly place: Place<Subject>
  readonly literal: Literal
}

/** What a call must have for a condition not to say no: all of one of these lists. An empty list asks for nothing. */
export type Needs<Subject> = ReadonlyArray<ReadonlyArray<Need<Subject>>>

export const needsNothing: Needs<unknown> = [[]]

const mostAlternatives = 16

/** What several conditions need together. */
export const needsOfAll = <Subject>(conditions: ReadonlyArray<Needs<Subject>>): Needs<Subject> =>
  conditions.reduce<Needs<Subject>>((one, other) => {
    // Leaving conditions out lets more rules through the screen, never fewer: that costs time and is not wrong.
    if (Math.min(one.length, other.length) > 1 && one.length * other.length > mostAlternatives) return one
    return one.flatMap((some) => other.map((more) => [...some, ...more]))
  }, needsNothing)

/** That a place has all literals of one of these lists. */
export const needsIn = <Subject>(
  place: Place<Subject>,
  alternatives: ReadonlyArray<ReadonlyArray<Literal>>
): Needs<Subject> => alternatives.map((literals) => literals.map((literal) => ({ place, literal })))

/** Shorter ones have no gram at some places, and tell nothing. */
const shortestUseful = 4
const mostTests = 4
const mostGrams = 8

/**
 * Tells which of many rules may match a call, by the literals they need, without a look at the rules themselves: these
 * are spread over the memory, and most of a decision would be waiting for it.
 */
export class Screen<Subject extends { readonly effort: Effort }> {
  readonly #places: Array<Place<Subject>> = []
  // For each alternative: the rule, where the alternative ends, and its tests. For each test: the place, and twice a
  // number of grams and the grams, for both ways in which the literal can stand there.
  readonly #tests: Uint32Array

  constructor(rules: ReadonlyArray<Needs<Subject>>) {
    const tests: Array<number> = []
    const numbers = new Map<string, number>()
    const numberOf = (place: Place<Subject>): number => {
      const known = numbers.get(place.name)
      if (known !== undefined) return known
      numbers.set(place.name, this.#places.length)
      return this.#places.push(place) - 1
    }
    for (const [rule, needs] of rules.entries()) {
      const alternatives = needs.map(usefulOf)
      for (const alternative of alternatives.some(({ length }) => length === 0) ? needsNothing : alternatives) {
        const start = tests.push(rule, 0) - 1
        for (const { place, literal } of alternative) {
          tests.push(numberOf(place))
          for (const grams of literal.grams) tests.push(Math.min(mostGrams, grams.length), ...grams.slice(-mostGrams))
        }
        tests[start] = tests.length
      }
    }
    this.#tests = Uint32Array.from(tests)
  }

  /** The numbers of the rules that may match, in their order. */
  candidates(subject: Subject): ReadonlyArray<number> {
    const tests = this.#tests
    const indexes: Array<GramIndex | "any" | undefined> = []
    const candidates: Array<number> = []
    for (let at = 0, end = 0; at < tests.length; at = end) {
      const rule = tests[at] ?? 0
      end = tests[at + 1] ?? 0
      if (candidates.at(-1) !== rule && this.#isMet(subject, indexes, at + 2, end)) candidates.push(rule)
    }
    return candidates
  }

  #isMet(subject: Subject, indexes: Array<GramIndex | "any" | undefined>, from: number, until: number): boolean {
    const tests = this.#tests
    for (let at = from; at < until;) {
      const place = tests[at] ?? 0
      const index = (indexes[place] ??= this.#indexOf(subject, place))
      const even = at + 2
      const odd = even + (tests[at + 1] ?? 0) + 1
      at = odd + (tests[odd - 1] ?? 0)
      if (index !== "any" && !hasGrams(index, tests, even, odd - 1) && !hasGrams(index, tests, odd, at)) return false
    }
    return true
  }

  #indexOf(subject: Subject, place: number): GramIndex | "any" {
    const text = this.#places[place]?.textOf(subject)
    return text === undefined ? "any" : subject.effort.indexOf(text)
  }
}

const usefulOf = <Subject>(needs: ReadonlyArray<Need<Subject>>): ReadonlyArray<Need<Subject>> =>
  needs.filter(({ literal }) => literal.text.length >= shortestUseful).slice(0, mostTests)
