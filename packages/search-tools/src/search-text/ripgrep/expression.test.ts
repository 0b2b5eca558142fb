import { describe, expect, it } from "@effect/vitest"
import { cliagent, haft } from "@haft/dialects"

import { placesOf } from "../../../test/found.ts"
import { callIn } from "../../../test/hosts.ts"

describe("an expression that can't be", () => {
  it.each([
    ["\\", "invalid regex pattern: it ends in the middle of an escape sequence"],
    [String.raw`\x00`, String.raw`invalid regex pattern: pattern contains "\0" but it is impossible to match`],
    ["a)|(b", "invalid regex pattern: unopened group"],
    [") || (", "invalid regex pattern: unopened group"],
    ["[(])(", "invalid regex pattern: unopened group"],
    ["a)", "invalid regex pattern: unopened group"],
    ["(a", "invalid regex pattern: unclosed group"],
    ["a\nb", "the pattern contains a line break, and matches are within one line"],
    ["a\0b", "the pattern contains a NUL character, and no text file has one"]
  ])("%j is refused with the reason", async (query, message) => {
    const reply = await callIn(haft, { a: "x" }, "search_text", { query })
    expect([reply.error?.code, reply.error?.message]).toEqual(["invalid_pattern", message])
  })

  it("is refused in the contract's words", async () => {
    const reply = await callIn(cliagent, { a: "x" }, "grep_search", { pattern: ") || (", is_regex: true })
    expect(reply.wire).toMatchObject({ output: "Error: Invalid regex pattern: unopened group" })
  })
})

describe("parentheses that are no groups", () => {
  it.each([
    [String.raw`\)x\(`, "y)x("],
    ["[)]x[(]", "y)x("],
    ["[])]x", "y)x"],
    ["[^](]x", "y)x"],
    ["[a[)]]x", ")x"],
    ["[[:alpha:])]x", ")x"]
  ])("as in %j are no mistake", async (query, text) => {
    expect(placesOf(await callIn(haft, { a: text }, "search_text", { query }))).toEqual(["a:1"])
  })
})
