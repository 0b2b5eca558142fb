import { isDeepStrictEqual } from "node:util"

/**
 * Where a value differs from what a case expects, or undefined. A case may say `"$number"`, `"$integer"`,
 * `"$string"` or `"$time"` for a value of that kind, `{ "$matches": "expression" }` for a text, and
 * `{ "$length": n }` for a text or list of that length.
 */
export const differs = (expected: unknown, actual: unknown, at = "reply"): string | undefined => {
  if (typeof expected === "string" && expected.startsWith("$")) {
    const matcher = matchers[expected]
    if (matcher !== undefined) return matcher(actual) ? undefined : `${at} is not a ${expected.slice(1)}`
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return `${at} is not a list`
    if (expected.length !== actual.length) return `${at} has ${actual.length} items, not ${expected.length}`
    return firstOf(expected.map((item, index) => differs(item, actual[index], `${at}[${index}]`)))
  }
  if (typeof expected === "object" && expected !== null) {
    const record = expected as Record<string, unknown>
    if (typeof record["$matches"] === "string") {
      return new RegExp(record["$matches"], "u").test(String(actual)) ? undefined : `${at} does not match`
    }
    if (typeof record["$length"] === "number") {
      const { length } = actual as { length?: number }
      return length === record["$length"] ? undefined : `${at} has length ${length}, not ${record["$length"]}`
    }
    if (typeof actual !== "object" || actual === null || Array.isArray(actual)) return `${at} is not an object`
    const keys = new Set([...Object.keys(record), ...Object.keys(actual)])
    return firstOf(
      [...keys].map((key) => differs(record[key], (actual as Record<string, unknown>)[key], `${at}.${key}`))
    )
  }
  return isDeepStrictEqual(expected, actual) ? undefined : `${at} is ${show(actual)}, not ${show(expected)}`
}

const matchers: Readonly<Record<string, (value: unknown) => boolean>> = {
  $number: (value) => typeof value === "number",
  $integer: Number.isInteger,
  $string: (value) => typeof value === "string",
  $time: (value) => typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(value)
}

const firstOf = (differences: ReadonlyArray<string | undefined>): string | undefined =>
  differences.find((difference) => difference !== undefined)

/** A value as JSON, for messages. */
export const show = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "nothing"
  return text.length > 2000 ? `${text.slice(0, 2000)}…` : text
}
