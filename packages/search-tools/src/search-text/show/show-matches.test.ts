import { describe, expect, it } from "@effect/vitest"
import { Processes } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { placesOf, resultOf } from "../../../test/found.ts"
import { callIn } from "../../../test/hosts.ts"

describe("the files that are shown", () => {
  const large = `hit\n${"no\n".repeat(200_000)}hit\nend\n`

  it("come in order, small or too large for one read", async () => {
    const files = { a: "hit\n", b: large, c: "no\nhit\n", d: large, e: "hit" }
    const reply = await callIn(haft, files, "search_text", { query: "hit", context_lines: 1 })
    expect(placesOf(reply)).toEqual(["a:1", "b:1", "b:200002", "c:2", "d:1", "d:200002", "e:1"])
  })

  /** Finds a `hit` in each of a, b and c when it counts, and says where it is in pieces of its own. */
  const sayingWhere = (...pieces: ReadonlyArray<string>): Layer.Layer<Processes> =>
    Layer.succeed(Processes, {
      end: () => Effect.void,
      feed: () => 0,
      release: () => Effect.succeed([]),
      inspect: () => Effect.succeed([]),
      systemProgram: () => undefined,
      mark: Effect.succeed({ name: "HAFT_CALL", value: "test" }),
      run: ({ args }, { onStdout } = {}) =>
        Effect.gen(function* () {
          const said = args.includes("--count") ? ["./a\u00001\n./b\u00002\n./c\u00001\n"] : pieces
          for (const piece of said) {
            onStdout?.(Buffer.from(piece))
            yield* Effect.yieldNow
          }
          return { exitCode: 0, signal: null, timedOut: false, durationMs: 1, leftRunning: 0 }
        })
    })
  const files = { a: "hit\n", b: "hit\nhit\n", c: "hit\n" }

  it.each([
    [
      "in order",
      ["./a\u00001:1:0:x\n./b\u00001:1:0:x\n", "./b\u00002:1:4:x\n./c\u00001:1:0:x\n"],
      ["a:1", "b:1", "b:2", "c:1"]
    ],
    [
      "backwards",
      ["./c\u00001:1:0:x\n", "./b\u00001:1:0:x\n./b\u00002:1:4:x\n", "./a\u00001:1:0:x\n"],
      ["a:1", "b:1", "b:2", "c:1"]
    ],
    [
      "torn",
      ["./a\u00001", ":1:0:x\n./b\u00001:1:0:x\n./", "b\u00002:1:4:x\n./c\u00001:1:0:x\n"],
      ["a:1", "b:1", "b:2", "c:1"]
    ],
    ["though some have fewer matches than they had", ["./b\u00002:1:4:x\n./c\u00001:1:0:x\n"], ["b:2", "c:1"]],
    ["and nothing else is", ["./b\u00001:1:0:x\n./d\u00001:1:0:x\n"], ["b:1"]]
  ])("are shown in order when ripgrep locates them %s", async (_how, pieces, lines) => {
    const reply = await callIn(haft, files, "search_text", { query: "hit" }, { processes: sayingWhere(...pieces) })
    expect(placesOf(reply)).toEqual(lines)
  })

  it("are counted when they can't be read any more", async () => {
    const all = ["./a\u00001:1:0:x\n./b\u00001:1:0:x\n./b\u00002:1:4:x\n./c\u00001:1:0:x\n"]
    const { b: _gone, ...left } = files
    const reply = await callIn(haft, left, "search_text", { query: "hit" }, { processes: sayingWhere(...all) })
    expect(placesOf(reply)).toEqual(["a:1", "c:1"])
    expect(resultOf(reply).remarks).toEqual(["1 file or directory could not be read."])
  })
})
