import { describe, expect, it } from "vitest"

import { isIndexable } from "./indexable.ts"
import { nameTerms, queryTerms, rowText, stem, termsOf } from "./terms.ts"

describe("termsOf", () => {
  it.each([
    ["readHTTPFile2", ["read", "http", "fil"]],
    ["snake_case_name", ["snak", "cas", "nam"]],
    ["UTF8 2026 a", ["utf", "2026"]],
    ["größe 変数", ["gr", "öß", "変数"]],
    ["x".repeat(60), []]
  ])("splits %s", (text, expected) => {
    expect(termsOf(text)).toEqual(expected)
  })
})

describe("stem", () => {
  it.each([
    ["parse", "parses", "parsed", "parsing", "parser", "parsers"],
    ["validate", "validates", "validation", "validating", "validator"],
    ["connect", "connection", "connections", "connected", "connecting"],
    ["stop", "stopped", "stopping", "stops"],
    ["query", "queries"],
    ["match", "matches", "matching"],
    ["class", "classes"]
  ])("makes one term of the forms of %s", (...forms) => {
    expect(new Set(forms.map(stem)).size).toBe(1)
  })

  it("leaves short words alone", () => {
    expect(["is", "bus", "red"].map(stem)).toEqual(["is", "bus", "red"])
  })
})

describe("nameTerms and queryTerms", () => {
  it("add the whole name to its words, so that it is found without its capitals", () => {
    expect(nameTerms("readFile")).toEqual(["read", "fil", "readfile"])
    expect(nameTerms("read")).toEqual(["read"])
  })

  it("leave out words that say nothing, unless nothing else is left", () => {
    expect([...queryTerms("where is the lock taken?").values()].toSorted()).toEqual(["lock", "taken"])
    expect([...queryTerms("what is this").keys()].toSorted()).toEqual(["is", "this", "what"])
    expect(queryTerms("?!").size).toBe(0)
  })

  it("bound a query", () => {
    expect(queryTerms(Array.from({ length: 500 }, (_, n) => `word${n}xyz`).join(" ")).size).toBeLessThanOrEqual(32)
  })
})

describe("rowText", () => {
  it("counts a term four times at most, and bounds a row", () => {
    expect(rowText(["a", "b", "a", "a", "a", "a"])).toBe("a b a a a")
    expect(rowText(["a", "b", "c"], 2)).toBe("a b")
  })
})

describe("isIndexable", () => {
  it.each(["key.pem", "logo.PNG", "app.wasm"])("leaves out %s", (path) => expect(isIndexable(path)).toBe(false))
  it.each([".env.example", "src/env.ts", "keys.ts", "a/credentials.ts", "README"])("takes %s", (path) =>
    expect(isIndexable(path)).toBe(true)
  )
})
