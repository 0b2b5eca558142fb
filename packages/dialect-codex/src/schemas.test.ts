import { expect, it } from "@effect/vitest"

import recorded from "../../../contracts/codex/tools.json" with { type: "json" }
import { codexTools } from "./index.ts"

interface Shape {
  readonly properties: Readonly<Record<string, { readonly type?: unknown }>>
  readonly required?: ReadonlyArray<string>
}

const shapeOf = (schema: object): object => {
  const { properties, required = [] } = schema as Shape
  const types = Object.entries(properties).map(([key, { type }]) => [key, type])
  return { required: [...required].toSorted(), properties: Object.fromEntries(types) }
}

it("codex has the tools of the release that are no agent's own", () => {
  expect(codexTools.tools.map(({ name }) => name).toSorted()).toEqual(Object.keys(recorded.tools).toSorted())
})

it.each(codexTools.tools.map((tool) => [tool.name, tool] as const))(
  "%s of codex takes the parameters of the release that every setup has",
  (name, { inputSchema }) => {
    const { required, properties } = recorded.tools[name as keyof typeof recorded.tools]
    expect(shapeOf(inputSchema)).toEqual({ required, properties })
    expect(inputSchema["additionalProperties"]).toBe(false)
  }
)

it.each(["exec_command", "write_stdin"])("%s of codex returns the fields of the release's output schema", (name) => {
  const { required, properties } = recorded.output
  const outputSchema = codexTools.tools.find((tool) => tool.name === name)?.outputSchema ?? {}
  expect(shapeOf(outputSchema)).toMatchObject({
    properties,
    required: expect.arrayContaining(required.toSorted()) as unknown
  })
})
