import { join } from "node:path"

import { temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"
import { afterAll, beforeAll, expect, it } from "vitest"

import { haft, placeOf } from "./haft.ts"

let workspace: TemporaryWorkspace
beforeAll(async () => {
  workspace = temporaryWorkspace({ "a.txt": "one\n", "haft.config.json": "{}" })
  await haft(["plugin", "new", "haft-plugin-words", "--workspace", workspace.outside])
  for (const id of ["docs", "spare"])
    await haft(inWorkspace("rules", "add", JSON.stringify({ id, tool: "write_file" })))
  await haft(inWorkspace("call", "write_file", "path=b.txt", "content=two", "--approve", "all"))
})
afterAll(() => workspace.remove())

const inWorkspace = (...args: ReadonlyArray<string>): ReadonlyArray<string> => [...args, ...placeOf(workspace)]

it.each([
  ["tools"],
  ["call read_file path=a.txt"],
  ["call read_file path=a.txt --dry-run"],
  ["call read_file path=none.txt"],
  ['rules add {"id":"more","tool":"write_file"}'],
  ['rules replace docs {"id":"docs","tool":"edit_file"}'],
  ["rules list"],
  ["rules disable docs"],
  ["rules enable docs"],
  ["rules test"],
  ["rules remove spare"],
  ["log runs"],
  ["log verify"],
  ["replay"],
  ["undo"],
  ["plugin list"],
  ["config trust"],
  ["config"]
])("prints JSON and nothing else with --json: haft %s", async (line) => {
  const { code, stdout } = await haft(inWorkspace(...line.split(" "), "--json"))
  expect(code).toBeLessThan(2)
  expect(JSON.parse(stdout)).toEqual(expect.anything())
})

it("prints an event a line with --json, as the record has them", async () => {
  const { stdout } = await haft(inWorkspace("log", "--json"))
  for (const line of stdout.trimEnd().split("\n")) expect(JSON.parse(line)).toHaveProperty("type")
})

it.each([["plugin docs"], ["plugin check"], ["contract lock"], ["contract check"]])(
  "prints JSON and nothing else with --json about a plugin: haft %s",
  async (line) => {
    const plugin = join(workspace.outside, "haft-plugin-words")
    workspace.put(
      "../outside/haft-plugin-words/dist/index.js",
      `import { definePlugin, defineTool } from "${import.meta.resolve("haft/promise")}"
      import * as z from "${import.meta.resolve("zod")}"
      const nothing = defineTool({ name: "nothing", description: "Does nothing.", input: z.strictObject({}),
        output: z.object({}), risk: "read_only", execute: async () => ({}) })
      export default definePlugin({ name: "haft-plugin-words", version: "0.0.0", tools: [nothing] })`
    )
    const { code, stdout } = await haft([...line.split(" "), plugin, "--json"])
    expect(code).toBeLessThan(2)
    expect(JSON.parse(stdout)).toEqual(expect.anything())
  }
)
