import * as fc from "fast-check"
import { expect, it } from "vitest"

import { openTools } from "../../test/open-tools.ts"

it("append_file keeps every byte of a file and adds those of the text, and undo takes them back", async () => {
  await using tools = await openTools()
  const text = fc.string({ unit: "binary", minLength: 1, maxLength: 50 }).filter((one) => !one.includes("\0"))
  await fc.assert(
    fc.asyncProperty(text, text, async (before, added) => {
      tools.workspace.put("a.txt", before)
      expect(await tools.call("append_file", { path: "a.txt", content: added })).toMatchObject({ ok: true })
      expect(Buffer.from(tools.workspace.bytes("a.txt"))).toEqual(Buffer.from(before + added))
      expect(await tools.call("undo", {})).toMatchObject({ ok: true })
      expect(Buffer.from(tools.workspace.bytes("a.txt"))).toEqual(Buffer.from(before))
    }),
    { numRuns: 25 }
  )
})

it("append_file refuses a file that is not text", async () => {
  await using tools = await openTools({ "a.bin": new Uint8Array([0, 1, 2]) })
  expect(await tools.call("append_file", { path: "a.bin", content: "x" })).toMatchObject({
    error: { code: "binary_file" }
  })
})

it("read_files shows what it read and what it could not", async () => {
  await using tools = await openTools({ "a.txt": "one\ntwo\n" })
  const { text } = await tools.host.call("read_files", { paths: ["a.txt", "b.txt"], max_lines: 1 })
  expect(text).toBe("--- a.txt ---\none\n[the rest left out]\n--- b.txt ---\nError: b.txt does not exist")
})
