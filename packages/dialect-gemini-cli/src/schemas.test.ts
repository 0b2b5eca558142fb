import { expect, it } from "@effect/vitest"

import recorded from "../../../contracts/gemini-cli/tools.json" with { type: "json" }
import { geminiCliTools } from "./index.ts"

interface Shape {
  readonly type?: unknown
  readonly minimum?: unknown
  readonly items?: Shape
  readonly properties?: Readonly<Record<string, Shape>>
  readonly required?: ReadonlyArray<string>
}

/** Types, lower limits and required parameters of a schema, at any depth. */
const shapeOf = ({ type, minimum, items, properties, required = [] }: Shape): object => ({
  type,
  ...(minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER && { minimum }),
  ...(items !== undefined && { items: shapeOf(items) }),
  ...(properties !== undefined && {
    required: [...required].toSorted(),
    properties: Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, shapeOf(value)]))
  })
})

/** Tools that the release makes when a command goes to the background; their definitions are not in the published set. */
const unpublished = ["list_background_processes", "read_background_output"]

it("gemini-cli has tools of the release only", () => {
  const names = [...Object.keys(recorded.tools), ...unpublished]
  expect(geminiCliTools.tools.map(({ name }) => name).toSorted()).toEqual(names.toSorted())
})

const published = geminiCliTools.tools.filter(({ name }) => !unpublished.includes(name))

it.each(published.map((tool) => [tool.name, tool] as const))(
  "%s of gemini-cli takes the parameters of the release",
  (name, { inputSchema }) => {
    const expected = recorded.tools[name as keyof typeof recorded.tools] as Shape
    expect(shapeOf(inputSchema as Shape)).toEqual(shapeOf(expected))
  }
)
