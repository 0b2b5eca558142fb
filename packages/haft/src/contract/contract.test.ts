import { readFileSync } from "node:fs"

import { describe, expect, it } from "@effect/vitest"
import { temporaryWorkspace } from "@haft/testing"
import * as z from "zod"

import { definePlugin, defineTool } from "../promise.ts"
import { checkContract, lockContract, neededBump, showContractCheck } from "./check-contract.ts"
import { compareContracts, weightOf } from "./compare-contracts.ts"
import { contractOf } from "./contract.ts"

interface Promised {
  readonly input?: z.ZodObject
  readonly output?: z.ZodObject
  readonly risk?: "read_only" | "safe_write" | "dangerous"
  readonly idempotent?: boolean
  readonly openWorld?: boolean
  readonly description?: string
  readonly name?: string
  readonly reads?: boolean
}

const contract = ({ input, output, reads = false, ...rest }: Promised) =>
  contractOf(
    definePlugin({
      name: "subject",
      version: "1.0.0",
      tools: [
        defineTool({
          name: "tool",
          description: "x",
          risk: "read_only",
          input: input ?? z.strictObject({}),
          output: output ?? z.object({}),
          execute: async () => ({}),
          ...(reads && { touches: () => ({ reads: ["a"] }) }),
          ...rest
        })
      ]
    })
  )

const input = (shape: z.ZodRawShape): Promised => ({ input: z.strictObject(shape) })
const output = (shape: z.ZodRawShape): Promised => ({ output: z.object(shape) })
const { string, number } = z
const oneOf = (value?: number) => {
  const union = z.union([string(), number()])
  return value === undefined ? union : union.default(value)
}
const titled = (key: string) => z.union([string(), z.strictObject({ [key]: string() })])

const table: ReadonlyArray<readonly [string, Promised, Promised, "breaking" | "additive" | "nothing"]> = [
  ["nothing at all", input({ a: string() }), input({ a: string() }), "nothing"],
  ["a description of a tool", { description: "one" }, { description: "two" }, "nothing"],
  ["a description of a parameter", input({ a: string() }), input({ a: string().describe("x") }), "nothing"],
  ["another order of parameters", input({ a: string(), b: string() }), input({ b: string(), a: string() }), "nothing"],
  ["a renamed tool", { name: "one" }, { name: "two" }, "breaking"],
  ["a new required parameter", input({}), input({ a: string() }), "breaking"],
  ["a new optional parameter", input({}), input({ a: string().optional() }), "additive"],
  ["a new parameter with a default", input({}), input({ a: string().default("x") }), "additive"],
  ["a parameter that is gone", input({ a: string().optional() }), input({}), "breaking"],
  ["a parameter that becomes required", input({ a: string().optional() }), input({ a: string() }), "breaking"],
  ["a parameter that becomes optional", input({ a: string() }), input({ a: string().optional() }), "additive"],
  ["another default", input({ a: number().default(1) }), input({ a: number().default(2) }), "breaking"],
  ["a parameter of another type", input({ a: string() }), input({ a: number() }), "breaking"],
  ["a parameter that takes null too", input({ a: string() }), input({ a: string().nullable() }), "additive"],
  ["a union", input({ a: string() }), input({ a: z.union([string(), number()]) }), "additive"],
  ["a union that is gone", input({ a: z.union([string(), number()]) }), input({ a: string() }), "breaking"],
  ["a number that becomes an integer", input({ a: number() }), input({ a: number().int() }), "breaking"],
  ["an integer that becomes a number", input({ a: number().int() }), input({ a: number() }), "additive"],
  ["a lower maximum", input({ a: number().max(9) }), input({ a: number().max(8) }), "breaking"],
  ["a higher maximum", input({ a: number().max(8) }), input({ a: number().max(9) }), "additive"],
  ["a higher minimum", input({ a: number().min(1) }), input({ a: number().min(2) }), "breaking"],
  ["a maximum where there was none", input({ a: number() }), input({ a: number().max(9) }), "breaking"],
  ["a maximum that is gone", input({ a: number().max(9) }), input({ a: number() }), "additive"],
  ["a shorter text", input({ a: string().max(9) }), input({ a: string().max(8) }), "breaking"],
  ["a pattern", input({ a: string() }), input({ a: string().regex(/x/) }), "breaking"],
  ["another pattern", input({ a: string().regex(/x/) }), input({ a: string().regex(/y/) }), "breaking"],
  ["one choice less", input({ a: z.enum(["x", "y"]) }), input({ a: z.enum(["x"]) }), "breaking"],
  ["one choice more", input({ a: z.enum(["x"]) }), input({ a: z.enum(["x", "y"]) }), "additive"],
  ["items with a bound", input({ a: z.array(number()) }), input({ a: z.array(number().max(1)) }), "breaking"],
  [
    "a new optional parameter inside",
    input({ a: z.strictObject({ b: string() }) }),
    input({ a: z.strictObject({ b: string(), c: string().optional() }) }),
    "additive"
  ],
  ["a default for what was required", input({ a: number() }), input({ a: number().default(2) }), "additive"],
  ["a default for what was optional", input({ a: number().optional() }), input({ a: number().default(2) }), "breaking"],
  ["another default of a union", input({ a: oneOf(1) }), input({ a: oneOf(2) }), "breaking"],
  ["a default for a union", input({ a: oneOf() }), input({ a: oneOf(1) }), "additive"],
  ["a description of a union", input({ a: oneOf() }), input({ a: oneOf().describe("x") }), "nothing"],
  ["a property 'title' inside a union", input({ a: titled("title") }), input({ a: titled("name") }), "breaking"],
  ["a parameter 'toString' that is gone", input({ toString: string().optional() }), input({}), "breaking"],
  ["a new parameter 'constructor'", input({}), input({ constructor: string() }), "breaking"],
  ["a new result field", output({}), output({ a: string() }), "additive"],
  ["a new optional result field", output({}), output({ a: string().optional() }), "additive"],
  ["a result field that is gone", output({ a: string() }), output({}), "breaking"],
  ["a result field that may be missing", output({ a: string() }), output({ a: string().optional() }), "breaking"],
  ["a result field that is always there", output({ a: string().optional() }), output({ a: string() }), "additive"],
  ["a result field that may be null", output({ a: string() }), output({ a: string().nullable() }), "breaking"],
  ["one kind of result more", output({ a: z.enum(["x"]) }), output({ a: z.enum(["x", "y"]) }), "breaking"],
  ["one kind of result less", output({ a: z.enum(["x", "y"]) }), output({ a: z.enum(["x"]) }), "additive"],
  ["a raised risk", { risk: "read_only" }, { risk: "dangerous" }, "breaking"],
  ["a lowered risk", { risk: "dangerous", idempotent: true }, { risk: "read_only" }, "breaking"],
  ["no longer idempotent", { idempotent: true }, { idempotent: false }, "breaking"],
  ["idempotent now", { idempotent: false }, { idempotent: true }, "additive"],
  ["out into the world", { openWorld: false }, { openWorld: true }, "breaking"],
  ["touching more", { reads: false }, { reads: true }, "breaking"],
  ["touching less", { reads: true }, { reads: false }, "additive"]
]

describe("a change of a contract", () => {
  it.each(table)("%s: %#", (_what, before, after, weight) => {
    expect(weightOf(compareContracts(contract(before), contract(after)))).toBe(weight)
  })

  it("of the plugin contract's number is breaking, a new tool is not", () => {
    const one = contract({})
    expect(weightOf(compareContracts(one, { ...one, contract: 2 }))).toBe("breaking")
    expect(compareContracts({ ...one, tools: {} }, one)).toEqual([
      { tool: "any/tool", weight: "additive", change: "the tool is new" }
    ])
  })

  it.each([
    ["breaking", "1.0.0", "major"],
    ["additive", "1.0.0", "minor"],
    ["nothing", "1.0.0", "patch"],
    ["breaking", "0.3.0", "minor"],
    ["additive", "0.3.0", "patch"]
  ] as const)("that is %s at %s needs a %s", (weight, version, bump) => {
    expect(neededBump(weight, true, version)).toBe(bump)
    expect(neededBump("nothing", false, version)).toBe("none")
  })
})

describe("a package with a lock", () => {
  const plugin = (extra: string) => `const tool = { name: "t", dialect: "any", description: "x", risk: "read_only",
    idempotent: true, openWorld: false, outputSchema: { type: "object", properties: {} }, prepare: () => { throw 1 },
    inputSchema: { type: "object", properties: { ${extra} }, required: [${extra === "" ? "" : '"a"'}] } }
    export default { "~haft/Plugin": 1, name: "p", version: "1.0.0", tools: [tool] }`
  const manifest = (entry: string) => JSON.stringify({ name: "p", version: "1.0.0", type: "module", exports: entry })
  const changeset = (bump: string) => `---\n"p": ${bump}\n"other": major\n---\n\nA change.\n`

  it("is let through only when the waiting changesets are large enough", async () => {
    using repository = temporaryWorkspace({
      "packages/p/package.json": manifest("./before.js"),
      "packages/p/before.js": plugin(""),
      "packages/p/after.js": plugin("a: {}"),
      ".changeset/README.md": changeset("major")
    })
    const directory = `${repository.root}/packages/p`
    await expect(checkContract(directory)).rejects.toThrow("it has no contract.lock.json. Write one with")
    await lockContract(directory)
    expect(JSON.parse(readFileSync(`${directory}/contract.lock.json`, "utf8"))).toMatchObject({ plugin: "p" })
    expect(await checkContract(directory)).toMatchObject({ ok: true, weight: "nothing", needed: "none", changes: [] })

    using later = temporaryWorkspace({
      "packages/p/package.json": manifest("./after.js"),
      "packages/p/after.js": plugin("a: {}"),
      "packages/p/contract.lock.json": readFileSync(`${directory}/contract.lock.json`, "utf8"),
      ".changeset/some-change.md": changeset("minor")
    })
    const check = await checkContract(`${later.root}/packages/p`)
    expect(check).toMatchObject({ ok: false, weight: "breaking", needed: "major", waiting: "minor" })
    expect(showContractCheck(check)).toBe(
      "✗ p 1.0.0: breaking\n  breaking: any/t: parameter 'a': is new\n  It needs a changeset with major; minor is waiting."
    )
    later.put(".changeset/another.md", changeset("major").replaceAll("\n", "\r\n"))
    expect(await checkContract(`${later.root}/packages/p`)).toMatchObject({ ok: true, waiting: "major" })
    later.put("packages/p/contract.lock.json", "<<<<<<< ours")
    await expect(checkContract(`${later.root}/packages/p`)).rejects.toThrow(
      "plugin p: its contract.lock.json is not one"
    )
  })
})
