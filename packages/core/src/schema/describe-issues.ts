import type * as z from "zod"

type Issue = z.core.$ZodIssue

/**
 * Issues of a schema in this project's words; messages that the schema's author chose stay. Where a value could have had
 * several shapes, the issues are those inside the shape that was meant, or what each of them expects.
 */
export const plainIssues = (error: z.ZodError): ReadonlyArray<Issue> => error.issues.flatMap(plain)

const plain = (issue: Issue): ReadonlyArray<Issue> => {
  if (!hasStandardMessage.test(issue.message)) return [issue]
  if (issue.code !== "invalid_union") return [{ ...issue, message: wordsFor(issue) }]
  const meant = issue.errors.find((issues) => issues.length > 0 && issues.every(({ path }) => path.length > 0))
  if (meant !== undefined) {
    return meant.flatMap((inner) => plain({ ...inner, path: [...issue.path, ...inner.path] }))
  }
  const messages = issue.errors.flatMap((issues) => issues.flatMap(plain)).map(({ message }) => message)
  const message = messages.length === 0 ? "it has none of the accepted shapes" : [...new Set(messages)].join(", or ")
  return [{ ...issue, message }]
}

/** Beginnings of the messages that zod gives where a schema has none of its own. */
const hasStandardMessage = /^(?:Invalid |Too (?:small|big)|Unrecognized key)/

const wordsFor = (issue: Exclude<Issue, { readonly code: "invalid_union" }>): string => {
  switch (issue.code) {
    case "invalid_type":
      return `expected ${withArticle(issue.expected)}${received(issue.message)}`
    case "too_small":
      return `expected ${limit(issue.origin, issue.exact === true ? "exactly" : issue.inclusive === false ? "more than" : "at least", issue.minimum)}`
    case "too_big":
      return `expected ${limit(issue.origin, issue.exact === true ? "exactly" : issue.inclusive === false ? "less than" : "at most", issue.maximum)}`
    case "not_multiple_of":
      return `expected a multiple of ${issue.divisor}`
    case "invalid_value":
      return `expected ${issue.values.length === 1 ? "" : "one of "}${issue.values.map((value) => shown(value)).join(", ")}`
    case "unrecognized_keys":
      return `unknown key ${issue.keys.map((key) => `'${key}'`).join(", ")}`
    case "invalid_format":
      return `expected ${formatWords(issue)}`
    case "invalid_key":
      return "it has a key that is not accepted"
    case "invalid_element":
      return "it has an element that is not accepted"
    case "custom":
      break
  }
  return "this value is not accepted"
}

const withArticle = (type: string): string => {
  if (["null", "undefined", "void", "never"].includes(type)) return type === "never" ? "no value" : type
  if (type === "int") return "an integer"
  return `${/^[aeiou]/.test(type) ? "an" : "a"} ${type === "nan" ? "NaN" : type}`
}

// The issue itself does not say it.
const received = (message: string): string => {
  const [, type] = /, received (\w+)$/.exec(message) ?? []
  if (type === undefined) return ""
  return `, got ${type === "undefined" ? "nothing" : withArticle(type)}`
}

const limit = (origin: string, comparison: string, bound: number | bigint): string => {
  const unit = units[origin]
  return unit === undefined
    ? `a ${origin === "int" ? "number" : origin} of ${comparison} ${bound}`
    : `${comparison} ${bound} ${unit}${Number(bound) === 1 ? "" : "s"}`
}

const units: Readonly<Record<string, string>> = {
  string: "character",
  array: "item",
  set: "item",
  object: "key",
  file: "byte"
}

const shown = (value: unknown): string => (typeof value === "string" ? `'${value}'` : String(value))

const formatWords = (issue: Extract<Issue, { readonly code: "invalid_format" }>): string => {
  const { format, pattern, prefix, suffix, includes } = issue as typeof issue & Partial<Record<string, string>>
  if (format === "starts_with") return `a text that begins with '${prefix}'`
  if (format === "ends_with") return `a text that ends with '${suffix}'`
  if (format === "includes") return `a text that contains '${includes}'`
  if (format === "regex") return `a text that matches ${pattern}`
  return `a text in the format '${format}'`
}
