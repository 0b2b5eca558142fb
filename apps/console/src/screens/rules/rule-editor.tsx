import { type SubmitEvent, useCallback, useId, useState } from "react"

import type { WorkspaceApi } from "../../api.ts"
import { messageOf, useLoad } from "../../hooks/use-load.ts"
import { Problem } from "../../parts.tsx"
import type { Rule } from "../../wire.ts"
import { type RuleFields, fieldsOf, ruleOf } from "./rule-fields.ts"
import { RulePreview } from "./rule-preview.tsx"

interface RuleEditorProps {
  readonly api: WorkspaceApi
  readonly run: string
  /** The rule to change; a new one when absent. */
  readonly rule: Rule | undefined
  readonly onSave: (rule: unknown) => Promise<void>
  readonly onCancel: () => void
}

const decisions = ["allow", "ask", "deny"] as const

/** Fields with one pattern a line. */
const patterns: ReadonlyArray<readonly [field: keyof RuleFields, label: string, hint: string]> = [
  ["writes", "Only these paths (written)", "src/**"],
  ["reads", "Only these paths (read)", "docs/**"],
  ["runs", "Commands", "npm test **"],
  ["fetches", "Fetched hosts", "example.com"],
  ["connects", "Hosts that commands connect to", "registry.example"]
]

/** A form with a field for every common condition; rare ones are edited as JSON. */
export const RuleEditor = ({ api, run, rule, onSave, onCancel }: RuleEditorProps) => {
  const [fields, setFields] = useState(() => fieldsOf(rule))
  const [problem, setProblem] = useState<string>()
  const loadTools = useCallback(() => api.tools(), [api])
  const { loaded: tools } = useLoad(loadTools)
  const listId = useId()
  const set = (name: keyof RuleFields) => (event: { readonly target: { readonly value: string } }) =>
    setFields({ ...fields, [name]: event.target.value })

  const save = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    setProblem(undefined)
    try {
      await onSave(ruleOf(fields, rule))
    } catch (error) {
      setProblem(messageOf(error))
    }
  }
  return (
    <form className="panel fields" aria-label="Rule" onSubmit={(event) => void save(event)}>
      <label className="field">
        Name
        <input
          value={fields.id}
          onChange={set("id")}
          required
          maxLength={100}
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- it was just asked for, perhaps from far below
          autoFocus
        />
      </label>
      <label className="field">
        Tool
        <input value={fields.tool} onChange={set("tool")} placeholder="any" list={listId} />
        <datalist id={listId}>
          {tools.state === "ready" && tools.value.map(({ name }) => <option key={name}>{name}</option>)}
        </datalist>
      </label>
      <label className="field">
        Decision
        <select value={fields.decision} onChange={set("decision")}>
          {decisions.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      {patterns.map(([name, label, hint]) => (
        <label key={name} className="field">
          {label}
          <textarea rows={1} spellCheck={false} placeholder={hint} value={fields[name]} onChange={set(name)} />
        </label>
      ))}
      <label className="field">
        Arguments equal (JSON)
        <textarea
          rows={1}
          spellCheck={false}
          placeholder='{"path": "a.txt"}'
          value={fields.exactly}
          onChange={set("exactly")}
        />
      </label>
      <label className="field">
        Expires
        <input type="datetime-local" value={fields.expires} onChange={set("expires")} />
      </label>
      <label className="field">
        Max uses
        <input type="number" min={1} value={fields.maximumUses} onChange={set("maximumUses")} />
      </label>
      <label className="field">
        Note
        <input value={fields.note} onChange={set("note")} />
      </label>
      <details open={fields.others !== ""}>
        <summary>Other conditions</summary>
        <label className="field">
          JSON: <span className="quiet">operation, dialect, workspace, fields, pattern, examples</span>
          <textarea rows={4} spellCheck={false} value={fields.others} onChange={set("others")} />
        </label>
      </details>
      <RulePreview api={api} run={run} fields={fields} rule={rule} />
      <Problem>{problem}</Problem>
      <div className="buttons">
        <button type="submit" className="primary">
          Save the rule
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  )
}
