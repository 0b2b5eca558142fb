import { chmodSync, lstatSync, readlinkSync, symlinkSync } from "node:fs"
import { join } from "node:path"

import * as fc from "fast-check"
import { expect, it } from "vitest"

import { openTools } from "../../test/open-tools.ts"

it("copy_path copies bytes, permissions and links of a directory, and undo takes it back", async () => {
  await using tools = await openTools({ "d/a.bin": new Uint8Array([0, 255, 10]), "d/e/run.sh": "#!/bin/sh\n" })
  const { root } = tools.workspace
  chmodSync(join(root, "d/e/run.sh"), 0o755)
  symlinkSync("../a.bin", join(root, "d/e/link"))
  expect(await tools.call("copy_path", { from: "d", to: "x/y" })).toMatchObject({
    ok: true,
    result: { from: "d", to: "x/y", files: 3, bytes: 13 }
  })
  expect([...tools.workspace.bytes("x/y/a.bin")]).toEqual([0, 255, 10])
  expect(lstatSync(join(root, "x/y/e/run.sh")).mode & 0o777).toBe(0o755)
  expect(readlinkSync(join(root, "x/y/e/link"))).toBe("../a.bin")
  expect(await tools.call("undo", {})).toMatchObject({ ok: true })
  expect(tools.workspace.exists("x")).toBe(false)
})

it.skipIf(process.platform === "win32")(
  "copy_path leaves set-user-ID, set-group-ID and sticky bits behind (not on this platform)",
  async () => {
    await using tools = await openTools({ "d/tool": "#!/bin/sh\n" })
    const { root } = tools.workspace
    chmodSync(join(root, "d/tool"), 0o7755)
    for (const [from, to] of [
      ["d/tool", "copy"],
      ["d", "e"]
    ]) {
      expect(await tools.call("copy_path", { from, to })).toMatchObject({ ok: true })
    }
    expect(["copy", "e/tool"].map((path) => lstatSync(join(root, path)).mode & 0o7777)).toEqual([0o755, 0o755])
  }
)

it("copy_path keeps every byte of a file", async () => {
  await using tools = await openTools()
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), async (content) => {
      tools.workspace.put("a", content)
      expect(await tools.call("copy_path", { from: "a", to: "b", overwrite: true })).toMatchObject({ ok: true })
      expect(Buffer.from(tools.workspace.bytes("b"))).toEqual(Buffer.from(content))
    }),
    { numRuns: 25 }
  )
})

it("copy_path copies nothing where one file is secret, or where there is too much", async () => {
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`d/${n}`, "x"]))
  await using tools = await openTools({ ...many, "d/.env": "KEY=1\n" })
  expect(await tools.call("copy_path", { from: "d", to: "e" })).toMatchObject({ error: { code: "secret_path" } })
  expect(tools.workspace.exists("e")).toBe(false)
})
