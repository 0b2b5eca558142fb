import { expect, it } from "@effect/vitest"

import { instructionsFor } from "./instructions.ts"

const tool = (name: string, ...parameters: ReadonlyArray<string>) => ({
  name,
  inputSchema: { type: "object", properties: Object.fromEntries(parameters.map((parameter) => [parameter, {}])) }
})

it("instructions name parameters only of tools that have them", () => {
  const own = instructionsFor([tool("read_file", "path", "start_line", "end_line"), tool("edit_file", "path", "exact")])
  expect(own).toContain("read_file takes start_line and end_line")
  expect(own).toContain("edit_file refuses text that occurs more than once")
  const other = instructionsFor([tool("read_file", "path", "head", "tail"), tool("edit_file", "path", "edits")])
  expect(other).not.toMatch(/read_file|edit_file/)
  expect(other).toContain("Nothing outside the workspace can be read or changed")
})
