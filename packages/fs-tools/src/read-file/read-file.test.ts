import { truncateSync } from "node:fs"
import { join } from "node:path"

import type { Dialect } from "@haft/core"
import { agentbench, cliagent, filetools, haft } from "@haft/dialects"
import { describe, expect, it } from "vitest"

import { openTools } from "../../test/open-tools.ts"

const mostBytes = 64 * 1024 * 1024

describe("a line longer than any answer", () => {
  it("is cut between two characters, and every dialect says that it was", async () => {
    const fixture = { f: `a${"é".repeat(mostBytes / 2)}\nlast\n` }
    const read = async (dialect: Dialect, tool: string): Promise<unknown> => {
      await using tools = await openTools(fixture, { dialect })
      return await tools.call(tool, { path: "f" })
    }
    const kept = `a${"é".repeat(mostBytes / 2 - 1)}`
    const ofAgentbench = (await read(agentbench, "read_file")) as { data: { content: string } }
    expect(ofAgentbench.data.content === `${kept}\n[1 lines left out]\n`).toBe(true)
    expect({ ...ofAgentbench.data, content: "" }).toEqual({
      content: "",
      truncated: true,
      total_lines: 2,
      start_line: 1,
      end_line: 2,
      omitted_lines: 1
    })
    const ofFiletools = (await read(filetools, "file.read")) as { content: string; truncated: boolean }
    expect(ofFiletools.content === `     1\t${kept}`).toBe(true)
    expect(ofFiletools.truncated).toBe(true)
  })
})

describe("the image of a disk", () => {
  it.each([
    [agentbench, { error: { error_type: "binary_file" } }],
    [
      cliagent,
      { success: true, output: expect.stringMatching(/^Warning: File appears to be binary.*\n0{8} {2}(00 ){16}/) }
    ],
    [haft, { error: { code: "file_too_large" } }]
  ])("is not read to its end to be known for what it is: $name", async (dialect, expected) => {
    await using tools = await openTools({ image: "" }, { dialect })
    // Sparse: it takes no room on the disk, and minutes to read.
    truncateSync(join(tools.workspace.root, "image"), 2 ** 40)
    expect(await tools.call("read_file", { path: "image" })).toMatchObject(expected)
  })
})
