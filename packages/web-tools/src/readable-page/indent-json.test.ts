import { expect, it } from "vitest"

import { indentJson } from "./indent-json.ts"

it.each([
  ["objects and lists", '{"a":[1,{"b":null}],"c":true}'],
  ["what is empty", '{"a":{},"b":[],"c":"","d":[[],{}]}'],
  ["space of its own", ' {\t"a" :\r\n [ 1 , 2 ] , "b" : { } }\n'],
  ["marks and quotes inside strings", String.raw`{"{[,:":"a\\\",]}","\\":"\\","\"":"\n"}`],
  ["a string alone", '"a b"'],
  ["a number alone", " -1.5 "],
  ["a list of lists", "[[[1,2],[3]],[]]"]
])("indents %s as JSON.stringify does", (_name, json) => {
  expect(indentJson(json)).toBe(JSON.stringify(JSON.parse(json), null, 2))
})

it("keeps every digit, every escape and every entry", () => {
  const json = String.raw`{"id":12345678901234567890,"price":1.0,"id":1e3,"text":"\u00e9\/"}`
  expect(indentJson(json)).toBe(
    String.raw`{
  "id": 12345678901234567890,
  "price": 1.0,
  "id": 1e3,
  "text": "\u00e9\/"
}`
  )
})

it.each([
  ["is cut off", '{"a":'],
  ["has a comma too many", "[1,]"],
  ["is empty", ""],
  ["would be gigabytes when indented", `${"[".repeat(1000)}${"1,".repeat(1_000_000)}1${"]".repeat(1000)}`],
  ["is very long", `"${"x".repeat(5_000_000)}"`],
  ["is deeper than anybody can read", `${"[".repeat(100_000)}${"]".repeat(100_000)}`]
])("leaves alone what %s", (_name, json) => {
  expect(indentJson(json) === json).toBe(true)
})
