import { describe, expect, it } from "vitest"

import type { Rule } from "../../wire.ts"
import { fieldsOf, ruleOf } from "./rule-fields.ts"

const rule: Rule = {
  id: "letters",
  tool: "write_file",
  decision: "allow",
  enabled: false,
  uses: 3,
  maximumUses: 9,
  created: "2026-01-01T00:00:00.000Z",
  expires: "2027-01-01T12:30:00.000Z",
  note: "why",
  touches: { writes: ["a/**", "b/**"], runs: "npm test **", network: true },
  exactly: { path: "a.txt" },
  fields: { path: { glob: "a*" } },
  dialect: "haft"
}

describe("the form of a rule", () => {
  it("keeps every condition, also those without a field of their own", () => {
    expect(ruleOf(fieldsOf(rule), rule)).toEqual(rule)
    expect(ruleOf(fieldsOf(undefined))).toEqual({ id: "", decision: "allow" })
  })

  it("refuses what it can't read instead of losing a condition", () => {
    const fields = fieldsOf(undefined)
    expect(() => ruleOf({ ...fields, others: "{" })).toThrow("not JSON")
    expect(() => ruleOf({ ...fields, others: "[]" })).toThrow("in braces")
    expect(() => ruleOf({ ...fields, exactly: "1" })).toThrow("in braces")
    expect(() => ruleOf({ ...fields, others: '{"tool":"x"}' })).toThrow('"tool" has a field of its own')
    expect(() => ruleOf({ ...fields, others: '{"touches":{"writes":"x"}}' })).toThrow('"touches.writes" has a field')
  })
})
