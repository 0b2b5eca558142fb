import { isObject } from "../../is-object.ts"
import { Facts } from "../../parts.tsx"
import type { Rule } from "../../wire.ts"

const notConditions = new Set(["id", "tool", "operation", "decision", "enabled", "uses", "created", "note", "examples"])

/** A rule in words: what it says about which tool, and when. */
export const RuleSummary = ({ rule }: { readonly rule: Rule }) => {
  const conditions = Object.entries(rule).filter(([name, value]) => !notConditions.has(name) && value !== undefined)
  return (
    <Facts
      facts={[
        { name: rule.decision, value: [rule.tool ?? [], rule.operation ?? []].flat(2).join(", ") || "any tool" },
        ...conditions.map(([name, value]) => ({ name: conditionNames[name] ?? name, value: inWords(name, value) }))
      ]}
    />
  )
}

/** `touches` has a line for each kind; other conditions are shown as the JSON they are stored as. */
const inWords = (name: string, value: unknown): string => {
  if (typeof value === "string") return value
  if (name !== "touches" || !isObject(value)) return JSON.stringify(value)
  return Object.entries(value)
    .map(([kind, globs]) => `${kind} ${[globs].flat().join(", ")}`)
    .join("\n")
}

const conditionNames: Readonly<Record<string, string>> = {
  exactly: "exactly with",
  exactlySha256: "exactly with (hash)",
  pattern: "arguments fit",
  fields: "fields fit",
  touches: "touches only",
  workspace: "in",
  expires: "until",
  maximumUses: "at most (times)"
}
