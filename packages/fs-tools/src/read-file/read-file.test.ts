import { truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import type { Dialect } from "@haft/core"
import { agentbench, cliagent, filetools, haft } from "@haft/dialects"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

import { openTools } from "../../test/open-tools.ts"

const mostBytes = 64 * 1024 * 1024

describe("a line longer than any answer", () => {
  it("is cut between two characters, and every dialect says that it was", async () => {
    const fixture = { f: `a${"é".repeat(mostBytes / 2)}\nlast\n` }
    const read = async (dialect: Dialect, tool: string): Promise<unknown> => {
      await using tools = await openTools(fixture, { dialect, replyBytes: 2 * mostBytes })
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

describe("the last lines of a file", () => {
  const encodings = {
    "utf-8": (text: string) => Buffer.from(text),
    "utf-16le": (text: string) => Buffer.from(`\uFEFF${text}`, "utf16le"),
    "utf-16be": (text: string) => Buffer.from(`\uFEFF${text}`, "utf16le").swap16(),
    latin1: (text: string) => Buffer.from(text, "latin1")
  }

  it("are those that a negative start_line counts from the end, in every encoding", async () => {
    await using tools = await openTools({ f: "" }, { dialect: haft })
    const line = fc.constantFrom("", "a", "é", "longer\r", "ÿ þ")
    const example = fc.record({
      lines: fc.array(line, { maxLength: 12 }),
      endsWithNewline: fc.boolean(),
      back: fc.integer({ min: 1, max: 15 }),
      encoding: fc.constantFrom(...(Object.keys(encodings) as Array<keyof typeof encodings>))
    })
    const property = fc.asyncProperty(example, async ({ lines, endsWithNewline, back, encoding }) => {
      const terminated = lines.map((text) => `${text}\n`)
      const last = lines.at(-1) ?? ""
      const all = endsWithNewline || last === "" ? terminated : [...terminated.slice(0, -1), last]
      writeFileSync(join(tools.workspace.root, "f"), encodings[encoding](all.join("")))
      const reply = (await tools.call("read_file", { path: "f", start_line: -back })) as { result: unknown }
      expect(reply.result).toMatchObject({
        content: all.slice(-back).join(""),
        start_line: Math.max(1, all.length - back + 1),
        end_line: all.length,
        total_lines: all.length,
        truncated: false
      })
    })
    await fc.assert(property, { numRuns: 60 })
  })
})
