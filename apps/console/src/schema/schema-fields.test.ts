import { describe, expect, it } from "vitest"

import type { JsonSchema } from "../wire.ts"
import { entriesIn, fieldsOf, readFields, type SchemaField, textsOf, withEntryText } from "./schema-fields.ts"

const schema: JsonSchema = {
  type: "object",
  required: ["path", "content"],
  properties: {
    path: { type: "string", description: "File" },
    content: { type: "string" },
    lines: { type: "integer", minimum: 1, maximum: 10, default: 5 },
    force: { type: "boolean", default: false },
    encoding: { type: "string", enum: ["utf-8", "base64"] },
    globs: { type: "array", items: { type: "string" } },
    env: { type: "object" }
  }
}
const fields = fieldsOf(schema)

describe("a form from a schema", () => {
  it("has a field of the right kind for each property", () => {
    expect(fields.map(({ name, kind }) => [name, kind])).toEqual([
      ["path", "text"],
      ["content", "long_text"],
      ["lines", "number"],
      ["force", "boolean"],
      ["encoding", "choice"],
      ["globs", "lines"],
      ["env", "json"]
    ])
  })

  it("gives back the values it began with", () => {
    const values = {
      path: "a",
      content: "x\ny\n",
      lines: 3,
      force: true,
      encoding: "utf-8",
      globs: ["*.ts", "*.js"],
      env: { A: "1" }
    }
    expect(readFields(fields, textsOf(fields, values), values)).toEqual({ values })
  })

  it("leaves out what is empty, but keeps texts that are needed or were there", () => {
    expect(readFields(fields, {})).toEqual({ values: { path: "", content: "" } })
    const optional = fieldsOf({ properties: { note: { type: "string" } } })
    expect(readFields(optional, { note: "" }, { note: "was here" })).toEqual({ values: { note: "" } })
    expect(readFields(optional, { note: "" })).toEqual({ values: {} })
  })

  it.each([
    ["lines", "many", "This is not a number."],
    ["lines", "1.5", "This must be a whole number."],
    ["lines", "0", "The least is 1."],
    ["lines", "11", "The most is 10."],
    ["env", "{", "This is not JSON."]
  ])("says what is wrong with %s = %s", (name, text, problem) => {
    expect(readFields(fields, { [name]: text })).toEqual({ problems: { [name]: problem } })
  })

  it("asks for what is needed and has no empty value", () => {
    const needed = fieldsOf({ required: ["count"], properties: { count: { type: "number" } } })
    expect(readFields(needed, {})).toEqual({ problems: { count: "This is needed." } })
  })
})

describe("a list of entries", () => {
  const edits = fieldsOf({
    required: ["edits"],
    properties: {
      edits: {
        type: "array",
        items: {
          type: "object",
          required: ["find"],
          properties: { find: { type: "string" }, all: { type: "boolean" }, line: { type: "integer" } }
        }
      }
    }
  })[0]!
  const [find, all, line] = edits.entryFields as [SchemaField, SchemaField, SchemaField]

  it("has fields of its own, and one entry to begin with where it is needed", () => {
    expect([edits.kind, edits.entryFields.map(({ kind }) => kind)]).toEqual([
      "list",
      ["long_text", "boolean", "number"]
    ])
    expect(entriesIn(edits, "")).toEqual([{}])
    expect(entriesIn({ ...edits, isRequired: false }, "")).toEqual([])
  })

  it("is mended as text where it is no list of entries", () => {
    for (const text of ["{", "5", '{"find":"a"}', '["a"]']) expect(entriesIn(edits, text)).toBe(undefined)
  })

  it("changes one field of one entry, and keeps what can't be read for the server to refuse", () => {
    const entries = [{ find: "a", all: true }, { find: "b" }]
    const after = (at: number, field: SchemaField, text: string): unknown =>
      JSON.parse(withEntryText(entries, { at, field, text }))
    expect(after(1, find, "c\n")).toEqual([{ find: "a", all: true }, { find: "c\n" }])
    expect(after(0, find, "")).toEqual([{ find: "", all: true }, { find: "b" }])
    expect(after(0, all, "")).toEqual([{ find: "a" }, { find: "b" }])
    expect(after(1, line, "3")).toEqual([
      { find: "a", all: true },
      { find: "b", line: 3 }
    ])
    expect(after(1, line, "three")).toEqual([
      { find: "a", all: true },
      { find: "b", line: "three" }
    ])
    const text = withEntryText(entries, { at: 1, field: line, text: "3" })
    expect(readFields([edits], { edits: text })).toEqual({ values: { edits: [entries[0], { find: "b", line: 3 }] } })
  })
})
