import { describe, expect, it } from "@effect/vitest"
import { exportTools, strictSchema } from "@haft/adapters"
import type { Profile, ToolDescription } from "@haft/core"
import { temporaryWorkspace } from "@haft/testing"
import { encode } from "gpt-tokenizer/encoding/o200k_base"

import { openHost } from "./promise.ts"

const toolsOf = async (profile?: Profile): Promise<ReadonlyArray<ToolDescription>> => {
  using workspace = temporaryWorkspace()
  const { root, state } = workspace
  await using host = await openHost({ root, state, ...(profile !== undefined && { profile }) })
  return exportTools(host.tools, "json") as ReadonlyArray<ToolDescription>
}

const tokensOf = (value: unknown): number => encode(JSON.stringify(value)).length

describe("the context cost of haft's tools", () => {
  it.each([
    { profile: "minimal", openai: 1_200, mcp: 1_500 },
    { profile: "coding", openai: 3_000, mcp: 4_000 },
    { profile: "all", openai: 5_500, mcp: 7_000 }
  ] as const)(
    "is at most $openai tokens as functions and $mcp over MCP with $profile",
    async ({ profile, ...most }) => {
      const tools = await toolsOf(profile)
      expect(tokensOf(exportTools(tools, "openai"))).toBeLessThanOrEqual(most.openai)
      expect(tokensOf(exportTools(tools, "mcp"))).toBeLessThanOrEqual(most.mcp)
    }
  )

  it("is that of coding where no profile is given", async () => {
    expect(await toolsOf()).toEqual(await toolsOf("coding"))
  })
})

describe("each of haft's tools", () => {
  it("describes itself and every parameter, at every depth", async () => {
    for (const { name, description, inputSchema } of await toolsOf()) {
      expect(description, name).toMatch(/^[A-Z].+\.$/)
      for (const [path, property] of propertiesIn(inputSchema)) {
        expect(property["description"], `${name}: ${path}`).toMatch(/\w{3}/)
      }
    }
  })

  it("has a schema that strict function calling takes", async () => {
    const loose = (await toolsOf()).filter(({ inputSchema }) => strictSchema(inputSchema) === undefined)
    expect(loose.map(({ name }) => name)).toEqual([])
  })

  it("has only examples that it takes", async () => {
    using workspace = temporaryWorkspace()
    const { root, state } = workspace
    await using host = await openHost({ root, state })
    const examples = host.tools.flatMap(({ name, examples: given = [] }) => given.map((args) => ({ name, args })))
    expect(examples.length).toBeGreaterThan(5)
    for (const { name, args } of examples) expect(await host.decode(name, args)).toMatchObject(args)
  })
})

type Schema = Readonly<Record<string, unknown>>

const propertiesIn = (schema: Schema, path = ""): ReadonlyArray<readonly [string, Schema]> => [
  ...Object.entries((schema["properties"] ?? {}) as Readonly<Record<string, Schema>>).flatMap(([name, property]) =>
    [[`${path}${name}`, property] as const].concat(propertiesIn(property, `${path}${name}.`))
  ),
  ...(schema["items"] === undefined ? [] : propertiesIn(schema["items"] as Schema, `${path}[].`)),
  ...((schema["anyOf"] ?? []) as ReadonlyArray<Schema>).flatMap((branch) => propertiesIn(branch, path))
]
