import type { Rule } from "../wire.ts"

const notConditions = new Set(["id", "tool", "decision", "enabled", "uses", "created", "note", "examples"])

/** A rule in words: what it says about which tool, and when. */
export const RuleSummary = ({ rule }: { readonly rule: Rule }) => {
  const conditions = Object.entries(rule).filter(([name, value]) => !notConditions.has(name) && value !== undefined)
  return (
    <dl className="facts">
      <div>
        <dt>{rule.decision}</dt>
        <dd>
          <code>{rule.tool}</code>
        </dd>
      </div>
      {conditions.map(([name, value]) => (
        <div key={name}>
          <dt>{conditionNames[name] ?? name}</dt>
          <dd>
            <code>{typeof value === "string" ? value : JSON.stringify(value)}</code>
          </dd>
        </div>
      ))}
    </dl>
  )
}

const conditionNames: Readonly<Record<string, string>> = {
  exactly: "exactly with",
  exactlySha256: "exactly with (hash)",
  pattern: "arguments fit",
  fields: "fields fit",
  touches: "touches only",
  workspace: "in",
  expires: "until",
  maximumUses: "at most, times"
}
