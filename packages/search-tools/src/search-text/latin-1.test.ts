import { writeFileSync } from "node:fs"
import { join } from "node:path"

import { describe, expect, it } from "@effect/vitest"
import { Host } from "@haft/core"
import { filetools, haft } from "@haft/dialects"
import { temporaryWorkspace } from "@haft/testing"
import * as Effect from "effect/Effect"

import { hostOf } from "../../test/hosts.ts"

interface Found {
  readonly result: {
    readonly matches: ReadonlyArray<{ readonly path: string; readonly line: number; readonly content: string }>
    readonly total_matches: number
    readonly files_with_matches: number
  }
}

const searchIn = async (files: Readonly<Record<string, Buffer>>, params: object): Promise<Found["result"]> => {
  using workspace = temporaryWorkspace()
  for (const [path, content] of Object.entries(files)) writeFileSync(join(workspace.root, path), content)
  const called = Host.use((host) => host.call("search_text", params))
  const reply = await Effect.runPromise(called.pipe(Effect.provide(hostOf(haft, workspace)), Effect.scoped))
  return (reply.wire as Found).result
}

const latin1 = (text: string): Buffer => Buffer.from(text, "latin1")

describe("search_text in files that are read as Latin-1", () => {
  const files = {
    a: Buffer.from("café\n鿿 é\n"),
    b: latin1("thé\ncafé crème\nplain cafe\n"),
    c: Buffer.from("\uFEFFcafé\n", "utf16le"),
    d: latin1("plain café\0")
  }

  it.each([
    ["é", { literal: true }, ["a:1 café", "a:2 鿿 é", "b:1 thé", "b:2 café crème", "c:1 café"]],
    ["CAFÉ", { case_sensitive: false }, ["a:1 café", "b:2 café crème", "c:1 café"]],
    [String.raw`\bcaf\w\b`, {}, ["a:1 café", "b:2 café crème", "b:3 plain cafe", "c:1 café"]],
    [String.raw`caf\b`, {}, []],
    ["caf[é]$", {}, ["a:1 café", "c:1 café"]],
    ["f. ", {}, ["b:2 café crème"]],
    ["crème|th", {}, ["b:1 thé", "b:2 café crème"]],
    ["plain", {}, ["b:3 plain cafe"]],
    [String.raw`caf\x{e9}`, {}, ["a:1 café", "b:2 café crème", "c:1 café"]],
    ["cr", {}, ["b:2 café crème"]],
    ["Ã©", { literal: true }, []],
    ["€", { literal: true }, []]
  ])("finds %j %j in the text", async (query, options, expected) => {
    const { matches, total_matches } = await searchIn(files, { query, ...options })
    expect(matches.map(({ path, line, content }) => `${path}:${line} ${content}`)).toEqual(expected)
    expect(total_matches).toBe(expected.length)
  })

  it("shows the text of a file that is too large for one read, wherever its first odd byte is", async () => {
    const padding = "no\n".repeat(200_000)
    const many = {
      early: latin1(`é\n${padding}hit é\n`),
      late: latin1(`hit Ã©\n${padding}é\n`),
      utf8: Buffer.from(`hit é\n${padding}é\n`)
    }
    for (const query of ["hit", "hit.*"]) {
      const { matches } = await searchIn(many, { query })
      expect(matches.map(({ path, line, content }) => `${path}:${line} ${content}`)).toEqual([
        "early:200002 hit é",
        "late:1 hit Ã©",
        "utf8:1 hit é"
      ])
    }
  })

  it("shows a long line around its match", async () => {
    const line = latin1(`${"é".repeat(5000)}hit${"ü".repeat(5000)}\n`)
    for (const query of ["hit", "h.t"]) {
      const { matches } = await searchIn({ a: line }, { query })
      expect(matches[0]?.content).toBe(`…${"é".repeat(500)}hit${"ü".repeat(1497)}…`)
    }
  })

  it("keeps order, limit and totals among files of both encodings", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 40 }, (_, number) => {
        const text = `${"é\n".repeat(3)}x\n`
        return [`f${String(number).padStart(2, "0")}`, number % 2 === 0 ? Buffer.from(text) : latin1(text)]
      })
    )
    const { matches, total_matches, files_with_matches } = await searchIn(many, { query: "^.$", max_results: 9 })
    expect(matches.map(({ path, line }) => `${path}:${line}`)).toEqual([
      ...[1, 2, 3, 4].map((line) => `f00:${line}`),
      ...[1, 2, 3, 4].map((line) => `f01:${line}`),
      "f02:1"
    ])
    expect([total_matches, files_with_matches]).toEqual([160, 40])
  })

  it("finds first results in another dialect, too", async () => {
    using workspace = temporaryWorkspace()
    writeFileSync(join(workspace.root, "b"), files.b)
    const called = Host.use((host) => host.call("file.search", { pattern: "thé", max_results: 1 }))
    const reply = await Effect.runPromise(called.pipe(Effect.provide(hostOf(filetools, workspace)), Effect.scoped))
    expect(reply.wire).toEqual({ matches: [{ path: "b", line: 1, content: "thé" }], truncated: false })
  })
})
