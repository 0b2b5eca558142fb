import { execFileSync } from "node:child_process"
import { join } from "node:path"

import { temporaryWorkspace } from "@haft/testing"
import { expect, it } from "vitest"

const megabyte = 2 ** 20
const size = (process.env["HAFT_LONG"] === "1" ? 50 : 20) * megabyte

// Text beyond ASCII takes two bytes a character in memory, so that alone may be twice its size.
it.each([
  ["ASCII", "the quick brown fox jumps over the lazy dog 0123456789\n", "utf8", 2.2],
  ["other characters", "the quick brown fox jumps → the lazy dog 0123456789\n", "utf8", 3.2],
  ["short lines", "→\n", "utf8", 3.2],
  ["UTF-16", "\uFEFFthe quick brown fox jumps → the lazy dog\n", "utf16le", 2.2],
  ["UTF-16, the other way round", "\uFEFFthe quick brown fox jumps → the lazy dog\n", "utf16be", 2.2]
] as const)("edits one line of a large file of %s with about three times its size", (_, line, encoding, most) => {
  const encode = (text: string): Buffer =>
    encoding === "utf16be" ? Buffer.from(text, "utf16le").swap16() : Buffer.from(text, encoding)
  const half = Buffer.alloc(size / 2, encode(line)).subarray(0, size / 2 - ((size / 2) % encode(line).length))
  const large = Buffer.concat([half, encode("NEEDLE\n"), half])
  using workspace = temporaryWorkspace({ small: "a\n", large })
  const program = join(import.meta.dirname, "../test/edit-large-file.ts")
  const used = execFileSync(process.execPath, ["--conditions=@haft/source", program, workspace.root, workspace.state], {
    encoding: "utf8"
  })
  // Garbage that was not collected yet counts too, so there is some room.
  expect(Number(used)).toBeLessThan(most * size + 16 * megabyte)
  expect(Buffer.from(workspace.bytes("large")).equals(Buffer.concat([half, encode("found\n"), half]))).toBe(true)
})
