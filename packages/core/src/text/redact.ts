import {
  mark,
  secretKey,
  type SecretMatch,
  secretOption,
  type SecretPattern,
  secretPatterns
} from "./secret-patterns.ts"

/** A copy of `value` without its secrets: texts under secret names and secrets inside texts are replaced, all else stays. */
export const redact = (value: unknown): unknown => {
  if (typeof value === "string") return redactText(value)
  if (Array.isArray(value)) return value.map(redactEntry)
  if (value === null || typeof value !== "object") return value
  const fields = value as Readonly<Record<string, unknown>>
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(fields)) {
    const isSecret = secretKey.test(key) || (key === "value" && isSecretPair(fields))
    put(copy, key, isSecret ? hidden(fields[key]) : redact(fields[key]))
  }
  return copy
}

// Arguments of a program: the one after --password is a secret.
const redactEntry = (entry: unknown, at: number, entries: ReadonlyArray<unknown>): unknown => {
  const previous = entries[at - 1]
  const isSecret =
    typeof entry === "string" && !entry.startsWith("-") && typeof previous === "string" && secretOption.test(previous)
  return isSecret ? hidden(entry) : redact(entry)
}

// { "name": "API_KEY", "value": "…" }, as lists of variables and headers have it.
const isSecretPair = ({ name, key }: Readonly<Record<string, unknown>>): boolean =>
  (typeof name === "string" && secretKey.test(name)) || (typeof key === "string" && secretKey.test(key))

// Only texts are hidden: a count of tokens is no secret, and fields further down are judged by their own names.
const hidden = (value: unknown): unknown => {
  if (typeof value === "string") return value === "" ? value : mark
  return Array.isArray(value) ? value.map(hidden) : redact(value)
}

// An assignment to `__proto__` would change the prototype instead of adding a field.
const put = (copy: Record<string, unknown>, key: string, value: unknown): void => {
  if (key !== "__proto__") copy[key] = value
  else Object.defineProperty(copy, key, { value, enumerable: true, configurable: true, writable: true })
}

/** Replaces the secrets in plain text, such as a command line, a file or the output of a program. */
export const redactText = (text: string): string => {
  let redacted = text
  for (const pattern of secretPatterns) {
    if (couldMatch(pattern, redacted)) redacted = redacted.replace(pattern.pattern, replacing(pattern))
  }
  return redacted
}

const couldMatch = ({ mentions, hint }: SecretPattern, text: string): boolean =>
  (mentions === undefined || mentions.some((mention) => text.includes(mention))) && (hint?.test(text) ?? true)

const replacing =
  ({ accepts }: SecretPattern) =>
  (found: string, ...rest: ReadonlyArray<unknown>): string => {
    const match = rest.at(-1) as SecretMatch
    if (accepts?.(match.value, match) === false) return found
    return `${found.slice(0, found.length - match.value.length)}${mark}`
  }
