import { strictSchema } from "@haft/adapters"
import { isToolError } from "@haft/core"
import { openHost } from "@haft/core/promise"
import { temporaryWorkspace } from "@haft/testing"
import { expect, it, onTestFinished } from "vitest"

import { standardHost } from "./host/standard-host.ts"
import { dialectNames } from "./internal.ts"

/** Values that break some rule of almost every schema: types, lengths, ranges, choices, shapes. */
const wrongValues: ReadonlyArray<unknown> = [
  null,
  true,
  -1,
  0.5,
  1e12,
  "",
  "\0",
  [],
  [1],
  [{}],
  {},
  { a: 1 },
  "x".repeat(300_000)
]

const wordsOfZod =
  /Invalid (?:input|option|string|key|value|number|element)|Too (?:small|big)|Unrecognized key|received/

it.each(dialectNames)("messages about wrong parameters of %s use no words of the schema library", async (dialect) => {
  const { root, state, remove } = temporaryWorkspace()
  onTestFinished(remove)
  const config = { root, state, dialect, approval: "none", sandbox: "none" } as const
  await using host = await openHost(standardHost(config))
  const messages = new Set<string>()
  for (const { name, inputSchema } of host.tools) {
    const parameters = Object.keys(inputSchema["properties"] ?? {})
    for (const parameter of [...parameters, "unknown"]) {
      for (const value of wrongValues) {
        const failure: unknown = await host.decode(name, { [parameter]: value }).then(
          () => undefined,
          (error: unknown) => error
        )
        if (isToolError(failure)) messages.add(failure.message)
      }
    }
  }
  expect(messages.size).toBeGreaterThan(5)
  expect([...messages].filter((message) => wordsOfZod.test(message))).toEqual([])
})

it.each(dialectNames)("every tool of %s can be called in strict mode", async (dialect) => {
  const { root, state, remove } = temporaryWorkspace()
  onTestFinished(remove)
  await using host = await openHost(standardHost({ root, state, dialect, approval: "none", sandbox: "none" }))
  const left = host.tools.filter(({ inputSchema }) => strictSchema(inputSchema) === undefined)
  expect(left.map(({ name }) => name)).toEqual([])
})
