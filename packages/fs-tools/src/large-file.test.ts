import { execFileSync } from "node:child_process"
import { join } from "node:path"

import { temporaryWorkspace } from "@haft/testing"
import { expect, it } from "vitest"

const megabyte = 2 ** 20
const size = (process.env["HAFT_LONG"] === "1" ? 50 : 20) * megabyte

// Text beyond Latin-1 takes two bytes a character, so that alone is twice its size.
it.each([
  ["ASCII", "the quick brown fox jumps over the lazy dog 0123456789\n", 3.5],
  ["other characters", "the quick brown fox jumps → the lazy dog 0123456789\n", 4.5]
])("edits one line of a large file of %s without much more memory than its text", (_, line, most) => {
  const half = line.repeat(size / 2 / Buffer.byteLength(line))
  using workspace = temporaryWorkspace({ small: "a\n", large: `${half}NEEDLE\n${half}` })
  const program = join(import.meta.dirname, "../test/edit-large-file.ts")
  const used = execFileSync(process.execPath, ["--conditions=@haft/source", program, workspace.root, workspace.state], {
    encoding: "utf8"
  })
  // What the collector has not taken away yet counts too, so there is some room.
  expect(Number(used)).toBeLessThan(most * size + 32 * megabyte)
  expect(Buffer.from(workspace.bytes("large")).includes("\nfound\n")).toBe(true)
})
