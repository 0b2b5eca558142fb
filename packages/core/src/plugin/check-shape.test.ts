import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { definePlugin, defineTool, use } from "../index.ts"

const tool = {
  name: "one",
  description: "Does something.",
  input: z.strictObject({}),
  output: z.object({}),
  risk: "read_only",
  execute: () => Effect.succeed({})
} as const
const made = definePlugin({ name: "made", version: "1.0.0", tools: [defineTool(tool)] })

it.each([
  ["no name", { name: undefined }, "plugin without a name: give definePlugin a `name`"],
  ["an empty name", { name: " " }, "plugin without a name: give definePlugin a `name`"],
  ["no version", { version: undefined }, "plugin made: its version is undefined, and no semantic version"],
  ["a tag for a version", { version: "latest" }, 'plugin made: its version is "latest", and no semantic version'],
  ["two numbers for a version", { version: "1.0" }, 'plugin made: its version is "1.0", and no semantic version'],
  ["a number with a zero before it", { version: "01.0.0" }, 'plugin made: its version is "01.0.0"'],
  ["no contract number", { "~haft/Plugin": undefined }, "plugin made: it was made for plugin contract undefined"],
  [
    "a number in a text",
    { "~haft/Plugin": "1" },
    'plugin made: it was made for plugin contract "1", this host speaks 1'
  ],
  ["no tools", { tools: undefined }, "plugin made: it has no list of tools"],
  ["a tool that is none", { tools: [null] }, "plugin made: its tool 1 is not made by defineTool"],
  ["a tool made by hand", { tools: [{ name: "two" }] }, "plugin made: its tool 'two' is not made by defineTool"],
  ["a tool without a name", { tools: [defineTool({ ...tool, name: "" })] }, "plugin made: its tool 1 has no name"],
  [
    "a tool of an unknown risk",
    { tools: [defineTool({ ...tool, risk: "harmless" as never })] },
    "plugin made: its tool 'one' has the risk \"harmless\": use one of read_only, safe_write, dangerous"
  ],
  [
    "a tool without a description",
    { tools: [defineTool({ ...tool, description: undefined as never })] },
    "plugin made: its tool 'one' has no description"
  ],
  ["no configure", { configure: undefined }, "plugin made: it can't be configured: plugin.configure is not a function"],
  ["nothing configured", { configure: () => undefined }, "plugin made: it can't be configured"],
  [
    "no layer",
    { configure: () => ({ ...use(made), layer: {} }) },
    "plugin made: it can't be configured: it has no layer"
  ]
])("refuses a plugin with %s by name", (_title, wrong, message) => {
  expect(() => use({ ...made, ...wrong } as never)).toThrow(message)
})

it.each(["0.0.0", "1.2.3", "1.0.0-rc.1", "1.0.0-rc.1+build.5", "0.0.0+2024-11"])("takes version %s", (version) => {
  expect(use({ ...made, version }).name).toBe("made")
})
