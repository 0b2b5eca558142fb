import { expect, it } from "@effect/vitest"

import recorded from "../../../contracts/claude-code/tools.json" with { type: "json" }
import { claudeCodeTools } from "./index.ts"

/** The fields of a published type, with whether each may be left out: `a: string; b?: { c: number; };`. */
const fieldsOf = (type: string): Readonly<Record<string, boolean>> => {
  const fields: Record<string, boolean> = {}
  let depth = 0
  let field = ""
  for (const character of type) {
    if (character === "{") depth++
    if (character === "}") depth--
    if (character !== ";" || depth > 0) field += character
    else {
      const [, name = "", optional] = /^\s*"?([\w-]+)"?(\?)?:/.exec(field) ?? []
      fields[name] = optional === "?"
      field = ""
    }
  }
  return fields
}

it("claude-code has the tools of Claude Code that are no agent's own", () => {
  expect(claudeCodeTools.tools.map(({ name }) => name)).toEqual(Object.keys(recorded.tools))
})

it.each(claudeCodeTools.tools.map((tool) => [tool.name, tool] as const))(
  "%s of claude-code takes and returns the fields that the release publishes",
  (name, { inputSchema, outputSchema }) => {
    const type: { readonly input: string; readonly output?: string } =
      recorded.tools[name as keyof typeof recorded.tools]
    const required = inputSchema["required"] as ReadonlyArray<string> | undefined
    const taken = Object.keys(inputSchema["properties"] ?? {}).map((key) => [key, !(required ?? []).includes(key)])
    expect(Object.fromEntries(taken)).toEqual(fieldsOf(type.input))
    expect(inputSchema["additionalProperties"]).toBe(false)
    if (type.output === undefined) return
    const published = fieldsOf(type.output)
    const returned = Object.keys(outputSchema["properties"] ?? {})
    expect(returned.filter((key) => !(key in published))).toEqual([])
    const always = Object.keys(published).filter((key) => !published[key])
    expect(always.filter((key) => !returned.includes(key))).toEqual([])
  }
)
