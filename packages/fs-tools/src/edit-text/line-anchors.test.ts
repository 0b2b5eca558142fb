import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

import { openTools } from "../../test/open-tools.ts"
import { AnchorIndex, anchorsOf } from "./line-anchors.ts"

const line = fc.string({ unit: "grapheme", maxLength: 12 }).filter((text) => !/[\n\r\0\uFEFF]/.test(text))

describe("line anchors", () => {
  it("find their line, or say that several are alike, whatever lines were added elsewhere", () => {
    fc.assert(
      fc.property(fc.array(line, { minLength: 3, maxLength: 30 }), fc.array(line, { maxLength: 5 }), (lines, added) => {
        const before = `${lines.join("\n")}\n`
        const at = Math.floor(lines.length / 2)
        const anchor = anchorsOf(before)[at] ?? ""
        expect(new AnchorIndex(before).find(anchor, true)).toMatchObject({ index: at })
        const found = new AnchorIndex(`${[...added, ...lines].join("\n")}\n`).find(anchor, false)
        expect(["ambiguous", at + added.length]).toContain(typeof found === "string" ? found : found.index)
      })
    )
  })

  it.each(["", "1", "x:abcde", "1:ab", "1:ABCDE"])("are refused where malformed: '%s'", (anchor) => {
    expect(new AnchorIndex("a\n").find(anchor, true)).toBe("malformed")
  })
})

/** A file read with anchors: its anchors by line, and its fingerprint. */
const readWithAnchors = async (tools: Awaited<ReturnType<typeof openTools>>, path: string) => {
  const { result } = (await tools.call("read_file", { path, anchors: true })) as {
    readonly result: { readonly content: string; readonly fingerprint: string }
  }
  const anchors = result.content.split("\n").map((text) => text.split("\t")[0] ?? "")
  return { anchors, fingerprint: result.fingerprint }
}

describe("edit_file with anchors", () => {
  it("replaces lines by their anchors, all meaning the file as it was read, together with edits by text", async () => {
    await using tools = await openTools({ "a.txt": "one\r\ntwo\r\nthree\r\nfour\r\nfive" })
    const { anchors } = await readWithAnchors(tools, "a.txt")
    const reply = await tools.call("edit_file", {
      path: "a.txt",
      edits: [
        { find: "four", replace: "FOUR" },
        { anchor: anchors[0], end_anchor: anchors[1], replace: "1\n1.5\n2" },
        { anchor: anchors[4], replace: "5" }
      ]
    })
    expect(reply).toMatchObject({
      ok: true,
      result: {
        edits: [{ matched: "exact" }, { matched: "anchor", line: 1 }, { matched: "anchor", line: 5 }],
        warnings: []
      }
    })
    expect(tools.workspace.read("a.txt")).toBe("1\r\n1.5\r\n2\r\nthree\r\nFOUR\r\n5")
  })

  it("deletes lines with an empty replacement, and follows a line that moved", async () => {
    await using tools = await openTools({ "a.txt": "a\nb\nc\nd\ne\n" })
    const { anchors } = await readWithAnchors(tools, "a.txt")
    tools.workspace.put("a.txt", "new\nlines\na\nb\nc\nd\ne\n")
    expect(
      await tools.call("edit_file", { path: "a.txt", edits: [{ anchor: anchors[2], replace: "" }] })
    ).toMatchObject({
      ok: true
    })
    expect(tools.workspace.read("a.txt")).toBe("new\nlines\na\nb\nd\ne\n")
  })

  it("refuses anchors that no longer fit, fit several lines, overlap or stand in the wrong order", async () => {
    await using tools = await openTools({ "a.txt": "a\nb\nc\n", "same.txt": "x\nx\nx\nx\nx\n" })
    const edit = (path: string, edits: ReadonlyArray<object>, more: object = {}) =>
      tools.call("edit_file", { path, edits, ...more })
    const codeOf = async (reply: Promise<unknown>) => ((await reply) as { error?: { code: string } }).error?.code
    const { anchors } = await readWithAnchors(tools, "a.txt")
    const [a, b, c] = anchors
    expect(await codeOf(edit("a.txt", [{ anchor: c, end_anchor: a, replace: "" }]))).toBe("invalid_range")
    const twice = [
      { anchor: a, end_anchor: b, replace: "" },
      { anchor: b, replace: "z" }
    ]
    expect(await codeOf(edit("a.txt", twice))).toBe("invalid_params")
    expect(await codeOf(edit("a.txt", [{ anchor: "nonsense", replace: "" }]))).toBe("invalid_params")
    expect(await codeOf(edit("a.txt", [{ find: "a", anchor: a, replace: "" }]))).toBe("invalid_params")
    expect(await codeOf(edit("a.txt", [{ find: "a", end_anchor: a, replace: "" }]))).toBe("invalid_params")
    tools.workspace.put("a.txt", "a\nB\nc\n")
    expect(await codeOf(edit("a.txt", [{ anchor: a, replace: "" }]))).toBe("match_not_found")
    expect(tools.workspace.read("a.txt")).toBe("a\nB\nc\n")
    const same = await readWithAnchors(tools, "same.txt")
    const third = [{ anchor: same.anchors[2], replace: "y" }]
    expect(await codeOf(edit("same.txt", third))).toBe("match_not_unique")
    expect(await edit("same.txt", third, { expected_fingerprint: same.fingerprint })).toMatchObject({ ok: true })
    expect(tools.workspace.read("same.txt")).toBe("x\nx\ny\nx\nx\n")
    expect(await codeOf(edit("same.txt", third, { expected_fingerprint: same.fingerprint }))).toBe("stale_file")
  })
})
