import { type SubmitEvent, useCallback, useId, useState } from "react"

import type { WorkspaceApi } from "../../api.ts"
import { messageOf, useLoad } from "../../hooks/use-load.ts"
import { isObject } from "../../is-object.ts"
import { Problem } from "../../parts.tsx"
import type { Rule } from "../../wire.ts"

interface RuleEditorProps {
  readonly api: WorkspaceApi
  /** The rule to change; a new one when absent. */
  readonly rule: Rule | undefined
  readonly onSave: (rule: unknown) => Promise<void>
  readonly onCancel: () => void
}

const decisions = ["allow", "ask", "deny"] as const
const inForm = new Set(["id", "tool", "decision", "note"])

/** Fields that haft maintains itself: saving a rule must not change them. */
const kept = new Set(["enabled", "uses", "created"])

/** A form with a field for everything that all rules have; the conditions are edited as JSON. */
export const RuleEditor = ({ api, rule, onSave, onCancel }: RuleEditorProps) => {
  const [id, setId] = useState(rule?.id ?? "")
  const [tool, setTool] = useState(rule?.tool ?? "")
  const [decision, setDecision] = useState<Rule["decision"]>(rule?.decision ?? "allow")
  const [note, setNote] = useState(rule?.note ?? "")
  const [conditions, setConditions] = useState(() => JSON.stringify(conditionsOf(rule), undefined, 2))
  const [problem, setProblem] = useState<string>()
  const loadTools = useCallback(() => api.tools(), [api])
  const { loaded: tools } = useLoad(loadTools)
  const listId = useId()

  const save = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    try {
      await onSave({
        ...keptOf(rule),
        id,
        ...(tool !== "" && { tool }),
        decision,
        ...(note !== "" && { note }),
        ...readConditions(conditions)
      })
    } catch (error) {
      setProblem(messageOf(error))
    }
  }
  return (
    <form className="panel fields" aria-label="Rule" onSubmit={(event) => void save(event)}>
      <label className="field">
        Name
        <input
          value={id}
          onChange={(event) => setId(event.target.value)}
          required
          maxLength={100}
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- it was just asked for, perhaps from far below
          autoFocus
        />
      </label>
      <label className="field">
        Tool
        <input value={tool} onChange={(event) => setTool(event.target.value)} placeholder="any" list={listId} />
        <datalist id={listId}>
          {tools.state === "ready" && tools.value.map(({ name }) => <option key={name}>{name}</option>)}
        </datalist>
      </label>
      <label className="field">
        Decision
        <select value={decision} onChange={(event) => setDecision(event.target.value as Rule["decision"])}>
          {decisions.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label className="field">
        Conditions (JSON):{" "}
        <span className="quiet">touches, fields, exactly, pattern, expires, maximumUses, examples</span>
        <textarea
          rows={7}
          spellCheck={false}
          value={conditions}
          onChange={(event) => setConditions(event.target.value)}
        />
      </label>
      <label className="field">
        Note
        <input value={note} onChange={(event) => setNote(event.target.value)} />
      </label>
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

// A condition that got lost would make a rule allow more than its author thinks, so anything unexpected is refused.
const readConditions = (text: string): object => {
  const read = parsed(text)
  if (read === undefined) throw new Error("The conditions are not JSON.")
  if (!isObject(read)) throw new Error("The conditions must be in braces: {} for none.")
  const twice = Object.keys(read).find((name) => inForm.has(name))
  if (twice !== undefined) throw new Error(`"${twice}" has a field of its own.`)
  return read
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const conditionsOf = (rule: Rule | undefined): object =>
  rule === undefined
    ? { touches: { writes: "docs/**" } }
    : Object.fromEntries(Object.entries(rule).filter(([name]) => !inForm.has(name) && !kept.has(name)))

const keptOf = (rule: Rule | undefined): object =>
  Object.fromEntries(Object.entries(rule ?? {}).filter(([name]) => kept.has(name)))
