import type * as Effect from "effect/Effect"

import type { Dialect } from "../dialect.ts"
import { type ErrorCode, toolError, type ToolError } from "../tool-error.ts"
import type { FailingTool, PreparedCall } from "../tool.ts"

/** Arguments: no tool takes deeper ones, and looking at them recursively is far from overflowing the stack. */
const mostLevels = 64
/** A sparse array can claim any length without holding anything. */
const mostValues = 1_000_000
/** Answers: larger than arguments, but copies of one must still fit into memory side by side. */
const mostAnswerLevels = 500
const mostAnswerValues = 20_000_000
const mostCharacters = 128_000_000

/** A value as it was at one moment, and what kept it from being data, if anything did. */
export interface PlainData {
  readonly data: unknown
  readonly problem?: string
}

/**
 * A copy of what a caller sent, of data alone. A program may send objects that change while they are looked at, never
 * end, or throw: what is recorded, judged and run has to be one and the same.
 */
export const plainData = (value: unknown): PlainData => {
  let values = 0
  const copy = (value: unknown, level: number): unknown => {
    if (++values > mostValues) throw new NoData(`they have more than ${mostValues} values`)
    if (value === null || value === undefined || typeof value === "boolean") return value
    if (typeof value === "string") {
      // UTF-8 has no way to write half a character, so the text that runs would not be the text that was shown.
      if (!value.isWellFormed()) throw new NoData("a string in them has a lone surrogate")
      return value
    }
    // Also infinity and NaN, which JSON can't say: the tool's schema refuses them, and names the parameter.
    if (typeof value === "number") return value
    if (typeof value !== "object") throw new NoData(`they have a ${typeof value} in them`)
    if (level >= mostLevels) throw new NoData(`they have values more than ${mostLevels} levels deep`)
    if (Array.isArray(value)) {
      if (value.length > mostValues) throw new NoData(`they have more than ${mostValues} values`)
      return Array.from(value, (inner) => copy(inner, level + 1))
    }
    if (isOfClass(value)) throw new NoData("they have an object of a class in them")
    const fields: Array<[string, unknown]> = Object.keys(value).map((key) => [
      key,
      copy((value as Record<string, unknown>)[key], level + 1)
    ])
    return Object.fromEntries(fields)
  }
  try {
    return { data: copy(value, 0) }
  } catch (error) {
    return { data: "[no plain data]", problem: error instanceof NoData ? error.message : "they can't be read" }
  }
}

class NoData extends Error {}

/** Reason why an answer is not JSON data, which no transport could send and no audit log could keep. */
export const whyNoData = (value: unknown): string | undefined => new Answer().problemOf(value, 0)

// A class with plain loops, because every answer of every call passes here: closures and lists would cost more.
class Answer {
  #values = 0
  #characters = 0

  problemOf(value: unknown, level: number): string | undefined {
    if (typeof value === "string") {
      this.#characters += value.length
      return this.#characters > mostCharacters ? `it has more than ${mostCharacters} characters` : undefined
    }
    if (value === null || value === undefined || typeof value === "boolean" || typeof value === "number")
      return undefined
    if (typeof value !== "object") return `it has a ${typeof value} in it`
    if (level >= mostAnswerLevels) return `it has values more than ${mostAnswerLevels} levels deep`
    return Array.isArray(value) ? this.#problemOfList(value, level) : this.#problemOfObject(value, level)
  }

  #problemOfList(values: ReadonlyArray<unknown>, level: number): string | undefined {
    this.#values += values.length
    if (this.#values > mostAnswerValues) return `it has more than ${mostAnswerValues} values`
    for (const value of values) {
      const problem = this.problemOf(value, level + 1)
      if (problem !== undefined) return problem
    }
    return undefined
  }

  #problemOfObject(fields: object, level: number): string | undefined {
    if (isOfClass(fields)) return "it has an object of a class in it"
    for (const key in fields) {
      if (++this.#values > mostAnswerValues) return `it has more than ${mostAnswerValues} values`
      const problem = this.problemOf((fields as Readonly<Record<string, unknown>>)[key], level + 1)
      if (problem !== undefined) return problem
    }
    return undefined
  }
}

const isOfClass = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) return false
  return Object.getPrototypeOf(prototype) !== null
}

/** Makes data unchangeable: what a tool said it would touch must still be what it then works on. */
export const frozen = <A>(value: A): A => {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value
  if (!Array.isArray(value) && isOfClass(value)) return value
  for (const inner of Object.values(value)) frozen(inner)
  return Object.freeze(value)
}

/** A tool with arguments that were taken as data. */
export const prepareWith = <R, Code extends ErrorCode>(
  tool: FailingTool<R, Code>,
  { data, problem }: PlainData,
  { isLenient = false }: Pick<Dialect, "isLenient">
): Effect.Effect<PreparedCall<R, Code>, ToolError<"invalid_params">> =>
  problem === undefined
    ? tool.prepare(data, { lenient: isLenient })
    : toolError("invalid_params", `the parameters are not JSON data: ${problem}`, {
        suggestion: "Send JSON: strings, numbers, booleans, null, arrays and objects."
      })
