import type { JsonSchema } from "@haft/core"
import * as fc from "fast-check"

import { interestingPaths } from "./odd-workspace.ts"

/** Arguments for a tool: most fit its schema, some nearly fit, some not at all. */
export const madeUpArguments = (schema: JsonSchema): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 12, arbitrary: valueOf(schema, 0) },
    {
      weight: 4,
      arbitrary: fc.tuple(valueOf(schema, 0), oddKey, anything).map(([args, key, value]) => withKey(args, key, value))
    },
    { weight: 1, arbitrary: anything },
    { weight: 1, arbitrary: fc.constantFrom(...hostile) }
  )

const valueOf = (schema: JsonSchema, depth: number): fc.Arbitrary<unknown> => {
  const wellFormed = fitting(schema, depth)
  return depth === 0 ? wellFormed : fc.oneof({ weight: 15, arbitrary: wellFormed }, { weight: 1, arbitrary: anything })
}

const fitting = (schema: JsonSchema, depth: number): fc.Arbitrary<unknown> => {
  if ("const" in schema) return fc.constant(schema["const"])
  const choices = schema["enum"] as ReadonlyArray<unknown> | undefined
  if (choices !== undefined) return fc.constantFrom(...choices)
  const variants = (schema["anyOf"] ?? schema["oneOf"]) as ReadonlyArray<JsonSchema> | undefined
  if (variants !== undefined) return fc.oneof(...variants.map((variant) => valueOf(variant, depth)))
  const types = [schema["type"]].flat()
  return fc.oneof(...types.map((type) => typed(String(type), schema, depth)))
}

const typed = (type: string, schema: JsonSchema, depth: number): fc.Arbitrary<unknown> => {
  if (type === "null") return fc.constant(null)
  if (type === "boolean") return fc.boolean()
  if (type === "integer" || type === "number") return numberOf(schema)
  if (type === "array") {
    const items = (schema["items"] ?? {}) as JsonSchema
    return fc.array(valueOf(items, depth + 1), { maxLength: 4 })
  }
  if (type === "object") return objectOf(schema, depth)
  return texts
}

const objectOf = (schema: JsonSchema, depth: number): fc.Arbitrary<unknown> => {
  const properties = (schema["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>
  const required = (schema["required"] ?? []) as ReadonlyArray<string>
  const values = Object.fromEntries(
    Object.entries(properties).map(([key, property]) => [key, valueOf(property, depth + 1)])
  )
  if (Object.keys(values).length === 0) return fc.dictionary(fc.string({ maxLength: 8 }), texts, { maxKeys: 3 })
  return fc.record(values, { requiredKeys: [...required] })
}

const numberOf = (schema: JsonSchema): fc.Arbitrary<unknown> => {
  const low = (schema["minimum"] as number | undefined) ?? 0
  const high = Math.min((schema["maximum"] as number | undefined) ?? 5000, low + 5000)
  return fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: Math.ceil(low), max: Math.max(Math.ceil(low), Math.floor(high)) }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(low, high, low - 1, high + 1, 0, -1, 1.5, 2 ** 31, 2 ** 53, -(2 ** 53), 1e308)
    }
  )
}

const commands = [
  "true",
  "false",
  "echo hi; echo no >&2",
  "cat",
  "exit 7",
  "kill -9 $$",
  "yes | head -c 300000",
  "'",
  '"',
  "$("
]
const code = ["print(1)", "console.log(1)", "import sys; sys.exit(3)", "while True: break", "throw 1"]
const patches = [
  "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n",
  "--- /dev/null\n+++ b/made.txt\n@@ -0,0 +1 @@\n+made\n",
  "*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n+TWO\n*** End Patch",
  "*** Begin Patch\n*** Add File: ../outside/x\n+x\n*** End Patch",
  "--- a/../outside/secret.txt\n+++ b/../outside/secret.txt\n@@ -1 +1 @@\n-x\n+y\n"
]
const urls = [
  "http://127.0.0.1:1/",
  "http://[::1]/",
  "https://example.invalid/x",
  "file:///etc/passwd",
  "http://0x7f.1/",
  "http://a b/"
]
const expressions = ["one|two", "(a+)+$", "[", "\\", "^.*$", "(?<=x)", "\\p{L}+", "needle"]

const words = fc.constantFrom(
  ...commands,
  ...code,
  ...patches,
  ...urls,
  ...expressions,
  "python",
  "node",
  "bash",
  "HEAD",
  "one",
  "two"
)

const texts: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...interestingPaths) },
  { weight: 5, arbitrary: words },
  { weight: 2, arbitrary: fc.string({ unit: "grapheme", maxLength: 30 }) },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 30 }) },
  // Lone surrogates, which can't be encoded.
  {
    weight: 1,
    arbitrary: fc
      .array(fc.integer({ min: 0xd7ff, max: 0xe000 }), { maxLength: 4 })
      .map((units) => String.fromCharCode(...units))
  },
  { weight: 1, arbitrary: fc.tuple(words, fc.nat({ max: 3 })).map(([word, power]) => word.repeat(10 ** power)) }
)

const oddKey = fc.constantFrom("__proto__", "constructor", "toString", "path", "", "\0", "no_such_parameter")

const withKey = (args: unknown, key: string, value: unknown): unknown => {
  const result: Record<string, unknown> = { ...(args as Record<string, unknown>) }
  Object.defineProperty(result, key, { value, enumerable: true, configurable: true, writable: true })
  return result
}

const anything: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.anything({
    maxDepth: 2,
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withNullPrototype: true,
    withSparseArray: true
  })
)

/** Makes a value that only a caller in the same process can send. A function, because some are large. */
type Hostile = () => unknown

const hostile: ReadonlyArray<Hostile> = [
  () => undefined,
  () => {
    const cyclic: Record<string, unknown> = { path: "a.txt" }
    cyclic["self"] = cyclic
    return cyclic
  },
  () => ({
    get path(): string {
      throw new Error("a getter that throws")
    }
  }),
  () =>
    new Proxy(
      { path: "a.txt" },
      {
        ownKeys: () => {
          throw new Error("a proxy that throws")
        }
      }
    ),
  () => ({ path: Symbol("path") }),
  () => ({ path: () => "a.txt" }),
  () => ({
    toJSON: () => {
      throw new Error("toJSON throws")
    },
    path: "a.txt"
  }),
  () => {
    let deep: unknown = "a.txt"
    for (let level = 0; level < 20_000; level++) deep = { path: deep }
    return deep
  },
  () => Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`key${index}`, index])),
  () => ({ path: "a/".repeat(500_000) })
]
