import type { JsonSchema } from "haft/internal"

import { UsageError } from "./command.ts"

const forms =
  "Give the arguments as JSON, as @FILE, as - for standard input, or as KEY=VALUE pairs; " +
  "KEY=@FILE and KEY=- take a value from a file and from standard input."

/** The arguments of a call, from what the person typed after the tool's name. */
export const readArguments = async (
  typed: ReadonlyArray<string>,
  schemaOf: () => JsonSchema | undefined = () => undefined
): Promise<unknown> => {
  const [first, ...others] = typed
  if (first === undefined) return {}
  if (others.length === 0) {
    if (first === "-") return fromJson(await readStdin(), "standard input")
    if (first.startsWith("@")) return fromJson(await readNamed(first.slice(1)), first.slice(1))
    if (/^\s*[[{"]/.test(first)) return fromJson(first, "the arguments")
  }
  const stray = typed.find((word) => !isPair(word))
  if (stray !== undefined) throw new UsageError(`'${stray}' is neither KEY=VALUE nor a JSON object. ${forms}`)
  const schema = schemaOf()
  const pairs: Array<Pair> = []
  for (const word of typed) pairs.push(await pairOf(word, pairs))
  return fromPairs(pairs, schema)
}

interface Pair {
  readonly key: string
  readonly value: string
  readonly isFromStdin: boolean
}

/** One KEY=VALUE. The value `@FILE` stands for a file's content, `-` for standard input, `@@text` for `@text`. */
const pairOf = async (word: string, before: ReadonlyArray<Pair>): Promise<Pair> => {
  const at = word.indexOf("=")
  const [key, written] = [word.slice(0, at), word.slice(at + 1)]
  if (written === "-") {
    if (before.some(({ isFromStdin }) => isFromStdin)) throw new UsageError(`${key}: standard input is read already`)
    return { key, value: await readStdin(), isFromStdin: true }
  }
  if (written.startsWith("@@")) return { key, value: written.slice(1), isFromStdin: false }
  if (!written.startsWith("@")) return { key, value: written, isFromStdin: false }
  const hint = `. For a value that begins with @, write ${key}=@${written}`
  return { key, value: await readNamed(written.slice(1), hint), isFromStdin: false }
}

const isPair = (word: string): boolean => /^[A-Za-z_][\w.-]*=/.test(word)

const fromJson = (text: string, where: string): unknown => {
  if (text.trim() === "") throw new UsageError(`there is nothing in ${where}. ${forms}`)
  const value = parsed(text, where)
  const repeated = repeatedKey(text)
  if (repeated !== undefined) throw new UsageError(`duplicate key "${repeated}" in ${where}`)
  return value
}

const parsed = (text: string, where: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    throw new UsageError(`${where} can't be read as JSON: ${(cause as Error).message}. ${forms}`, { cause })
  }
}

/** A key that an object in a valid JSON text has twice: `JSON.parse` would silently keep the last. */
const repeatedKey = (json: string): string | undefined => {
  const open: Array<Set<string>> = []
  for (let at = 0; at < json.length; at++) {
    const sign = json[at]
    if (sign === "{" || sign === "[") open.push(new Set())
    else if (sign === "}" || sign === "]") open.pop()
    if (sign !== '"') continue
    const start = at
    at = endOfString(json, start)
    if (!/^\s*:/.test(json.slice(at + 1, at + 100))) continue
    const key = JSON.parse(json.slice(start, at + 1)) as string
    const keys = open.at(-1)
    if (keys?.has(key) === true) return key
    keys?.add(key)
  }
  return undefined
}

// By index and not by an expression, whose stack a text of megabytes overflows.
const endOfString = (json: string, start: number): number => {
  let at = start + 1
  while (at < json.length && json[at] !== '"') at += json[at] === "\\" ? 2 : 1
  return at
}

const readNamed = async (path: string, hint = ""): Promise<string> => {
  const { readNamedFile } = await import("haft/internal")
  if (path === "") throw new UsageError(`missing file name after @. ${forms}`)
  return readNamedFile(path).catch((cause: Error) => {
    throw new UsageError(`${path} can't be read: ${cause.message}${hint}`, { cause })
  })
}

const readStdin = async (): Promise<string> => {
  const { readWhole } = await import("haft/internal")
  return readWhole(process.stdin).catch((cause: Error) => {
    throw new UsageError(`standard input can't be read: ${cause.message}`, { cause })
  })
}

// A string is taken as it was typed; a value of any other type is read as JSON. A list may be given several times.
const fromPairs = (pairs: ReadonlyArray<Pair>, schema: JsonSchema | undefined): Record<string, unknown> => {
  const properties = (schema?.["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>
  const args = new Map<string, unknown>()
  for (const { key, value: written } of pairs) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined
    const isList = property !== undefined && typesOf(property).has("array")
    const value = valueOf(written, isList ? (property["items"] as JsonSchema | undefined) : property)
    if (!isList && args.has(key)) throw new UsageError(`${key} is given twice, but is not a list`)
    if (!isList) args.set(key, value)
    else args.set(key, [...((args.get(key) as Array<unknown> | undefined) ?? []), value].flat())
  }
  return Object.fromEntries(args)
}

const valueOf = (text: string, schema: JsonSchema | undefined): unknown => {
  if (schema !== undefined && typesOf(schema).has("string") && !(typesOf(schema).has("null") && text === "null")) {
    return text
  }
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

const typesOf = (schema: JsonSchema): ReadonlySet<unknown> => {
  const types = new Set<unknown>([schema["type"] ?? (schema["enum"] === undefined ? [] : "string")].flat())
  const alternatives = (schema["anyOf"] ?? schema["oneOf"] ?? []) as ReadonlyArray<JsonSchema>
  for (const alternative of alternatives) for (const type of typesOf(alternative)) types.add(type)
  return types
}
