import { describe, expect, it } from "vitest"

import { fieldsOf, readFields, textsOf } from "./schema-fields.ts"
import type { JsonSchema } from "./wire.ts"

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
