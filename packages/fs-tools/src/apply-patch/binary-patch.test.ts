import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { deflateSync } from "node:zlib"

import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

import { openTools } from "../../test/open-tools.ts"

/** Bytes that compress badly, so that git prints a delta where two files are mostly alike. */
const noise = (length: number, seed: number): Buffer => {
  const bytes = Buffer.alloc(length)
  for (let at = 0, state = seed + 1; at < length; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    bytes[at] = state >>> 16
  }
  return bytes
}

/** The change of one file as git prints it. */
const diffOf = (before: Buffer, after: Buffer, ...options: ReadonlyArray<string>): string => {
  const directory = mkdtempSync(join(tmpdir(), "haft-binary-"))
  const git = (...args: ReadonlyArray<string>): string =>
    execFileSync("git", ["-C", directory, ...args], { encoding: "utf8" })
  const treeOf = (content: Buffer): string => {
    writeFileSync(join(directory, "f.bin"), content)
    git("add", "--all", "--force")
    return git("write-tree").trim()
  }
  try {
    git("init", "--quiet", ...options)
    git("config", "core.autocrlf", "false")
    return git("diff", "--binary", treeOf(before), treeOf(after))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

describe("a binary patch of git", () => {
  const zero = Buffer.from([0])
  const example = fc.record({
    length: fc.integer({ min: 0, max: 200_000 }),
    seed: fc.nat({ max: 1000 }),
    cut: fc.array(fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), removed: fc.nat({ max: 5000 }) }), {
      minLength: 1,
      maxLength: 4
    }),
    added: fc.uint8Array({ maxLength: 300 })
  })

  it("gives the bytes that git says, and back again", async () => {
    let deltas = 0
    for (const { length, seed, cut, added } of fc.sample(example, { numRuns: 12, seed: 1 })) {
      const before = Buffer.concat([zero, noise(length, seed)])
      const after = cut.reduce((bytes, { at, removed }) => {
        const start = 1 + Math.floor(at * (bytes.length - 1))
        return Buffer.concat([bytes.subarray(0, start), added, bytes.subarray(start + removed)])
      }, before)
      const [there, back] = [diffOf(before, after), diffOf(after, before)]
      if (there === "") continue
      if (there.includes("\ndelta ")) deltas++
      await using tools = await openTools({ "f.bin": before })
      expect(await tools.call("apply_patch", { patch: there })).toMatchObject({ ok: true })
      expect(readFileSync(join(tools.workspace.root, "f.bin")).equals(after)).toBe(true)
      expect(await tools.call("apply_patch", { patch: there })).toMatchObject({ error: { code: "already_applied" } })
      expect(await tools.call("apply_patch", { patch: back.replaceAll("\n", "\r\n") })).toMatchObject({ ok: true })
      expect(readFileSync(join(tools.workspace.root, "f.bin")).equals(before)).toBe(true)
    }
    expect(deltas).toBeGreaterThan(3)
  })

  it("of a repository with SHA-256 ids is applied", async () => {
    const patch = diffOf(Buffer.from("\0one"), Buffer.from("\0two"), "--object-format=sha256")
    await using tools = await openTools({ "f.bin": "\0one" })
    expect(await tools.call("apply_patch", { patch })).toMatchObject({ ok: true })
    expect(tools.workspace.read("f.bin")).toBe("\0two")
  })

  it("is shown by its size", async () => {
    await using tools = await openTools({ "f.bin": "\0one" })
    const patch = diffOf(Buffer.from("\0one"), Buffer.from("\0three"))
    expect((await tools.host.preview("apply_patch", { patch })).diff).toBe("Binary file f.bin: 6 bytes\n")
  })

  it("is refused by name where the configuration says so, and changes nothing", async () => {
    await using tools = await openTools({ "f.bin": "\0one" }, { config: { binaryPatches: "refuse" } })
    const patch = diffOf(Buffer.from("\0one"), Buffer.from("\0two"))
    expect(await tools.call("apply_patch", { patch })).toMatchObject({
      error: {
        code: "patch_parse_error",
        message: expect.stringContaining("f.bin is changed by a binary patch, which is not allowed here") as string
      }
    })
    expect(tools.workspace.read("f.bin")).toBe("\0one")
  })
})

const idOf = (bytes: Buffer): string => createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex")

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
const inBase85 = (bytes: Buffer): string => {
  const lines: Array<string> = []
  for (let at = 0; at < bytes.length; at += 52) {
    const piece = bytes.subarray(at, at + 52)
    const padded = Buffer.concat([piece, Buffer.alloc((4 - (piece.length % 4)) % 4)])
    let line = String.fromCharCode(piece.length <= 26 ? 64 + piece.length : 70 + piece.length)
    for (let group = 0; group < padded.length; group += 4) {
      let value = padded.readUInt32BE(group)
      let characters = ""
      for (let count = 0; count < 5; count++) {
        characters = (alphabet[value % 85] ?? "") + characters
        value = Math.floor(value / 85)
      }
      line += characters
    }
    lines.push(line)
  }
  return `${lines.join("\n")}\n`
}

describe("a binary patch that git did not make", () => {
  const before = Buffer.from("\0one")
  const patchOf = (method: string, data: Buffer, after: Buffer, size = data.length): string =>
    `diff --git a/f.bin b/f.bin\nindex ${idOf(before)}..${idOf(after)} 100644\nGIT binary patch\n` +
    `${method} ${size}\n${inBase85(deflateSync(data))}\n`

  it("is applied where its data give the file that it names", async () => {
    const after = Buffer.from("\0one\0onex")
    const delta = Buffer.from([4, 9, 0x90, 4, 0x91, 0, 4, 1, 120])
    await using tools = await openTools({ "f.bin": before })
    expect(await tools.call("apply_patch", { patch: patchOf("delta", delta, after) })).toMatchObject({ ok: true })
    expect(tools.workspace.read("f.bin")).toBe("\0one\0onex")
  })

  const target = Buffer.from("\0two")
  it.each([
    ["other content than its id says", patchOf("literal", Buffer.from("\0six"), target)],
    ["more bytes than it states", patchOf("literal", target, target, 2)],
    ["fewer bytes than it states", patchOf("literal", target, target, 9)],
    ["a bomb", patchOf("literal", Buffer.alloc(50_000_000), target, 4)],
    ["a larger file than is allowed", patchOf("literal", target, target, 1e12)],
    ["a delta of a file of another size", patchOf("delta", Buffer.from([9, 4, 4, 0, 116, 119, 111]), target)],
    ["a delta that copies from beyond the file", patchOf("delta", Buffer.from([4, 4, 0x91, 3, 4]), target)],
    ["a delta that writes more than it says", patchOf("delta", Buffer.from([4, 4, 0x90, 4, 0x90, 4]), target)],
    ["a delta that writes less than it says", patchOf("delta", Buffer.from([4, 4, 1, 0]), target)],
    ["a delta with a step of no length", patchOf("delta", Buffer.from([4, 4, 0, 0, 0, 0]), target)],
    ["a delta that ends in a size", patchOf("delta", Buffer.from([4, 0xff]), target)],
    ["a delta of a huge file", patchOf("delta", Buffer.from([4, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 0]), target)],
    ["a line that is too short", patchOf("literal", target, target).replace(/^(\w.{5}).*$/m, "$1")],
    ["characters outside of base 85", patchOf("literal", target, target).replace(/\n[A-Za-z]\S{5}/, '\nL"""""')],
    ["no data", `diff --git a/f.bin b/f.bin\nindex ${idOf(before)}..${idOf(target)}\nGIT binary patch\n`]
  ])("is refused for %s", async (_what, patch) => {
    await using tools = await openTools({ "f.bin": before })
    expect(await tools.call("apply_patch", { patch })).toMatchObject({ error: { code: "patch_parse_error" } })
    expect(tools.workspace.read("f.bin")).toBe("\0one")
  })
})
