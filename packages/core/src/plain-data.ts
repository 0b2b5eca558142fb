import type * as Effect from "effect/Effect"

import { toolError, type ToolError } from "./tool-error.ts"
import type { PreparedCall, Tool } from "./tool.ts"

/** Deeper than anything a tool takes, and far from what recursion can bear. */
const mostLevels = 64
/** A list may say it is longer than all memory. */
const mostValues = 1_000_000

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
      // No encoding can write it: another text would be run than was shown.
      if (!value.isWellFormed()) throw new NoData("a text in them has half a character, a lone surrogate")
      return value
    }
    // What no JSON can say, such as infinity, is still a number, and refused by name like any wrong one.
    if (typeof value === "number") return value
    if (typeof value !== "object") throw new NoData(`they have a ${typeof value} in them`)
    if (level >= mostLevels) throw new NoData(`they have values more than ${mostLevels} levels deep`)
    if (Array.isArray(value)) {
      if (value.length > mostValues) throw new NoData(`they have more than ${mostValues} values`)
      return Array.from(value, (inner) => copy(inner, level + 1))
    }
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
      throw new NoData("they have an object of a class in them")
    }
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

/** A tool with arguments that were taken as data. */
export const prepareWith = <R>(
  tool: Tool<R>,
  { data, problem }: PlainData
): Effect.Effect<PreparedCall<R>, ToolError<"invalid_params">> =>
  problem === undefined
    ? tool.prepare(data)
    : toolError("invalid_params", `the parameters are no plain data: ${problem}`, {
        suggestion: "Send what JSON can say: texts, numbers, true, false, null, lists and objects of them."
      })
