import type * as z from "zod"

/** Arguments that fit after all, and what was changed to make them fit, in words. */
export interface LenientlyDecoded<A> {
  readonly data: A
  readonly adjusted: ReadonlyArray<string>
}

/**
 * Decodes arguments that do not fit a schema, where only one reading of them is possible: `null` for a parameter that
 * may be absent, a number, a boolean, a list or an object written as a string of JSON, one object where a list of objects
 * is expected. Undefined where anything else is wrong, so that nothing is guessed.
 */
export const decodeLeniently = <Schema extends z.ZodObject>(
  schema: Schema,
  args: unknown,
  { issues }: z.ZodError
): LenientlyDecoded<z.output<Schema>> | undefined => {
  if (typeof args !== "object" || args === null) return undefined
  const copy = structuredClone(args)
  const adjusted: Array<string> = []
  for (const issue of issues) {
    const note = issue.code === "invalid_type" ? adjust(copy, issue) : undefined
    if (note === undefined) return undefined
    adjusted.push(note)
  }
  const decoded = schema.safeParse(copy)
  return decoded.success ? { data: decoded.data, adjusted } : undefined
}

/** Changes one value in place and says how; undefined where it can only be refused. */
const adjust = (args: object, { path, expected }: z.core.$ZodIssueInvalidType): string | undefined => {
  const key = path.at(-1)
  const holder = path.slice(0, -1).reduce<unknown>((inner, step) => (inner as Fields)[step], args) as Fields
  if (key === undefined || !Object.hasOwn(holder, key)) return undefined
  const where = path.join(".")
  const value = holder[key]
  if (value === null) {
    if (typeof key !== "string") return undefined
    delete holder[key]
    return `${where}: null was taken for an absent parameter`
  }
  if (expected === "array" || expected === "object") {
    const written = typeof value === "string" ? jsonIn(value, expected === "array") : undefined
    if (written !== undefined) {
      holder[key] = written
      return `${where}: the string of JSON was taken for the ${expected === "array" ? "list" : "object"} in it`
    }
  }
  if (expected === "array") {
    if (typeof value !== "object") return undefined
    holder[key] = [value]
    return `${where}: one object was taken for a list of one`
  }
  const meant = typeof value === "string" ? readAs(expected, value) : undefined
  if (meant === undefined) return undefined
  holder[key] = meant
  return `${where}: the string "${value as string}" was taken for the ${expected === "boolean" ? "boolean" : "number"} ${meant}`
}

type Fields = Record<PropertyKey, unknown>

/** The list or object that a text is in JSON. */
const jsonIn = (text: string, isList: boolean): object | undefined => {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    const value = JSON.parse(text) as object
    return Array.isArray(value) === isList ? value : undefined
  } catch {
    return undefined
  }
}

// Only what JSON would write the same way without the quotes: not "01", " 1", "1e3" or "yes".
const readAs = (expected: string, text: string): number | boolean | undefined => {
  if (expected === "boolean") return text === "true" ? true : text === "false" ? false : undefined
  if (expected !== "number" && expected !== "int") return undefined
  const number = Number(text)
  return Number.isFinite(number) && String(number) === text ? number : undefined
}
