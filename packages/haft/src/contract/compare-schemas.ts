import type { JsonSchema } from "@haft/core"

/**
 * How two schemas differ at one place. The new schema allows fewer values (`narrower`) or more (`wider`); whether that
 * breaks callers depends on whether they write such values or read them.
 */
export interface SchemaDifference {
  /** Names of properties, joined with `.`; empty for the root. */
  readonly path: string
  readonly effect: "narrower" | "wider" | "changed" | "removed" | "new" | "new_required" | "wording"
  readonly text: string
}

export const compareSchemas = (before: JsonSchema, after: JsonSchema, path = ""): ReadonlyArray<SchemaDifference> => {
  if (isUnion(before) || isUnion(after)) {
    return [...compareSets(alternativesOf(before), alternativesOf(after), path), ...compareRest(before, after, path)]
  }
  return [
    ...compareTypes(before, after, path),
    ...compareChoices(before, after, path),
    ...compareBounds(before, after, path),
    ...compareProperties(before, after, path),
    ...compareInner(before, after, path),
    ...compareRest(before, after, path)
  ]
}

const at = (path: string, effect: SchemaDifference["effect"], text: string): SchemaDifference => ({
  path,
  effect,
  text
})

const typesOf = ({ type }: JsonSchema): ReadonlyArray<string> =>
  [type as string | ReadonlyArray<string> | undefined].flat().filter((one) => one !== undefined)

const compareTypes = (before: JsonSchema, after: JsonSchema, path: string): ReadonlyArray<SchemaDifference> => {
  const [was, is] = [typesOf(before), typesOf(after)]
  if (was.length === 0 || is.length === 0) {
    if (was.length === is.length) return []
    return [
      at(
        path,
        is.length === 0 ? "wider" : "narrower",
        `type ${was.join(" or ") || "any"} is now ${is.join(" or ") || "any"}`
      )
    ]
  }
  // Every integer is a number.
  const covers = (types: ReadonlyArray<string>, type: string): boolean =>
    types.includes(type) || (type === "integer" && types.includes("number"))
  return [
    ...was.filter((type) => !covers(is, type)).map((type) => at(path, "narrower", `no longer ${type}`)),
    ...is.filter((type) => !covers(was, type)).map((type) => at(path, "wider", `now also ${type}`))
  ]
}

const compareChoices = (before: JsonSchema, after: JsonSchema, path: string): ReadonlyArray<SchemaDifference> => {
  const [was, is] = [choicesOf(before), choicesOf(after)]
  if (was === undefined && is === undefined) return []
  if (was === undefined) return [at(path, "narrower", "only certain values now")]
  if (is === undefined) return [at(path, "wider", "no longer only certain values")]
  return compareSets(was, is, path)
}

const choicesOf = (schema: JsonSchema): ReadonlyArray<string> | undefined => {
  if ("const" in schema) return [JSON.stringify(schema["const"])]
  return (schema["enum"] as ReadonlyArray<unknown> | undefined)?.map((choice) => JSON.stringify(choice))
}

// A value that is gone makes the set narrower, a new one makes it wider.
const compareSets = (
  was: ReadonlyArray<string>,
  is: ReadonlyArray<string>,
  path: string
): ReadonlyArray<SchemaDifference> => [
  ...was.filter((one) => !is.includes(one)).map((one) => at(path, "narrower", `no longer ${one}`)),
  ...is.filter((one) => !was.includes(one)).map((one) => at(path, "wider", `now also ${one}`))
]

const isUnion = (schema: JsonSchema): boolean => "anyOf" in schema || "oneOf" in schema

// A schema that is no union counts as its only alternative, without its default, which `compareRest` compares.
const alternativesOf = (schema: JsonSchema): ReadonlyArray<string> => {
  const { default: _beside, ...alone } = schema
  const alternatives = (schema["anyOf"] ?? schema["oneOf"] ?? [alone]) as ReadonlyArray<unknown>
  return alternatives.map((one) => JSON.stringify(withoutWords(one)))
}

// Leaves out `description` and `title`, but not properties of these names.
const withoutWords = (value: unknown, isSchema = true): unknown => {
  if (Array.isArray(value)) return value.map((inner) => withoutWords(inner))
  if (typeof value !== "object" || value === null) return value
  const kept = Object.entries(value).filter(([key]) => !isSchema || !words.includes(key))
  return Object.fromEntries(
    kept
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, inner]) => [key, withoutWords(inner, !isSchema || key !== "properties")])
  )
}

const words = ["description", "title"]

const lower = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"]
const upper = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"]
const exact = ["pattern", "format", "multipleOf", "uniqueItems"]

const compareBounds = (before: JsonSchema, after: JsonSchema, path: string): ReadonlyArray<SchemaDifference> => [
  ...lower.flatMap((key) => compareBound(boundOf(before, key), boundOf(after, key), key, path, 1)),
  ...upper.flatMap((key) => compareBound(boundOf(before, key), boundOf(after, key), key, path, -1)),
  ...exact.flatMap((key) => {
    const [was, is] = [before[key], after[key]]
    if (JSON.stringify(was) === JSON.stringify(is)) return []
    if (was === undefined) return [at(path, "narrower", `${key} is now ${JSON.stringify(is)}`)]
    if (is === undefined) return [at(path, "wider", `${key} is gone`)]
    return [at(path, "changed", `${key} was ${JSON.stringify(was)}, is ${JSON.stringify(is)}`)]
  })
]

const boundOf = (schema: JsonSchema, key: string): number | undefined => schema[key] as number | undefined

const compareBound = (
  was: number | undefined,
  is: number | undefined,
  key: string,
  path: string,
  narrowerWhenRising: 1 | -1
): ReadonlyArray<SchemaDifference> => {
  if (was === is) return []
  const open = narrowerWhenRising === 1 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  const [from, to] = [was ?? open, is ?? open]
  const isNarrower = (to - from) * narrowerWhenRising > 0
  return [at(path, isNarrower ? "narrower" : "wider", `${key} was ${was ?? "open"}, is ${is ?? "open"}`)]
}

const compareProperties = (before: JsonSchema, after: JsonSchema, path: string): ReadonlyArray<SchemaDifference> => {
  const [was, is] = [propertiesOf(before), propertiesOf(after)]
  const [wasRequired, isRequired] = [requiredOf(before), requiredOf(after)]
  const removed = Object.keys(was).filter((key) => !Object.hasOwn(is, key))
  return [
    ...removed.map((key) => at(join(path, key), "removed", "is gone")),
    ...Object.entries(is).flatMap(([key, schema]) => {
      const inner = join(path, key)
      const earlier = Object.hasOwn(was, key) ? was[key] : undefined
      if (earlier === undefined) return [at(inner, isRequired.includes(key) ? "new_required" : "new", "is new")]
      const presence = comparePresence(wasRequired.includes(key), isRequired.includes(key), inner)
      // A required parameter was always given, so a default that it gets now changes no call.
      const isFree = wasRequired.includes(key) && "default" in schema
      const had = isFree ? { ...earlier, default: schema["default"] } : earlier
      return presence.concat(compareSchemas(had, schema, inner))
    })
  ]
}

const comparePresence = (was: boolean, is: boolean, path: string): ReadonlyArray<SchemaDifference> => {
  if (was === is) return []
  return [is ? at(path, "narrower", "is now required") : at(path, "wider", "is now optional")]
}

const propertiesOf = (schema: JsonSchema): Readonly<Record<string, JsonSchema>> =>
  (schema["properties"] ?? {}) as Record<string, JsonSchema>

const requiredOf = (schema: JsonSchema): ReadonlyArray<string> => (schema["required"] ?? []) as ReadonlyArray<string>

const join = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`)

const compareInner = (before: JsonSchema, after: JsonSchema, path: string): ReadonlyArray<SchemaDifference> =>
  ["items", "additionalProperties"].flatMap((key) => {
    const [was, is] = [before[key], after[key]]
    if (isSchema(was) && isSchema(is)) return compareSchemas(was, is, join(path, key === "items" ? "[]" : "*"))
    if (JSON.stringify(was) === JSON.stringify(is)) return []
    if (key === "items") return [at(path, "changed", "its items changed")]
    return [at(path, is === false || was === undefined ? "narrower" : "wider", "what other keys it takes changed")]
  })

const isSchema = (value: unknown): value is JsonSchema => typeof value === "object" && value !== null

const known = new Set([
  "type",
  "enum",
  "const",
  "anyOf",
  "oneOf",
  "properties",
  "required",
  "items",
  "additionalProperties",
  ...lower,
  ...upper,
  ...exact
])

// A new default changes what calls without the parameter mean. A change of any other keyword might break callers too.
const compareRest = (before: JsonSchema, after: JsonSchema, path: string): ReadonlyArray<SchemaDifference> =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((key) => !known.has(key) && JSON.stringify(before[key]) !== JSON.stringify(after[key]))
    .map((key) => {
      if (words.includes(key)) return at(path, "wording", `its ${key} changed`)
      if (key !== "default") return at(path, "changed", `${key} changed`)
      const show = (schema: JsonSchema): string => (key in schema ? JSON.stringify(schema[key]) : "none")
      return at(path, "changed", `the default was ${show(before)}, is ${show(after)}`)
    })
