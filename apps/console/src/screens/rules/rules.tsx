import { useCallback, useState } from "react"

import { messageOf, useLoad } from "../../hooks/use-load.ts"
import { Empty, Loading, Problem } from "../../parts.tsx"
import type { ScreenProps } from "../../screen-props.ts"
import type { Rule } from "../../wire.ts"
import { RuleEditor } from "./rule-editor.tsx"
import { RuleSummary } from "./rule-summary.tsx"
import { Simulator } from "./simulator.tsx"

/** The rules that decide without a person, and a simulator that tries them on calls of the past. */
export const Rules = ({ api, run }: ScreenProps) => {
  const load = useCallback(() => api.rules(), [api])
  const { loaded, reload } = useLoad(load)
  const [edited, setEdited] = useState<Rule | "new">()
  const [problem, setProblem] = useState<string>()

  const change = async (work: Promise<void>): Promise<void> => {
    setProblem(undefined)
    await work.catch((error: unknown) => setProblem(messageOf(error)))
    reload()
  }
  const save = async (rule: unknown): Promise<void> => {
    await (edited === undefined || edited === "new" ? api.addRule(rule) : api.replaceRule(edited.id, rule))
    setEdited(undefined)
    reload()
  }

  return (
    <div className="columns">
      <section aria-labelledby="rules-title">
        <header className="section-head">
          <h2 id="rules-title">Rules</h2>
          <button type="button" onClick={() => setEdited("new")}>
            Add a rule
          </button>
        </header>
        <Problem>{problem}</Problem>
        {edited !== undefined && (
          <RuleEditor
            key={edited === "new" ? "new" : edited.id}
            api={api}
            run={run}
            rule={edited === "new" ? undefined : edited}
            onSave={save}
            onCancel={() => setEdited(undefined)}
          />
        )}
        <Loading loaded={loaded}>
          {(rules) =>
            rules.length === 0 ? (
              edited === undefined && (
                <Empty title="No rules yet">
                  Answer a request with Always, or add one. Without rules, whatever is not harmless is asked.
                </Empty>
              )
            ) : (
              <ul className="cards">
                {rules.map((rule) => (
                  <li key={rule.id} className={`card ${rule.enabled ? "" : "is-off"}`}>
                    <span className="card-title">
                      <strong>{rule.id}</strong>
                      <span className={`badge ${rule.decision}`}>{rule.decision}</span>
                    </span>
                    <RuleSummary rule={rule} />
                    <p className="quiet">{remarksOn(rule)}</p>
                    <RuleActions
                      rule={rule}
                      onEnable={(enabled) => void change(api.enableRule(rule.id, enabled))}
                      onEdit={() => setEdited(rule)}
                      onRemove={() => void change(api.removeRule(rule.id))}
                    />
                  </li>
                ))}
              </ul>
            )
          }
        </Loading>
      </section>
      <Simulator
        api={api}
        run={run}
        onAccept={(rule) => {
          void change(api.addRule(rule))
        }}
      />
    </div>
  )
}

// Uses are counted only for rules that have a maximum.
const remarksOn = ({ uses, maximumUses, note }: Rule): string =>
  [
    ...(maximumUses === undefined ? [] : [`used ${uses} of ${maximumUses} times`]),
    ...(note === undefined ? [] : [note])
  ].join(" · ")

interface RuleActionsProps {
  readonly rule: Rule
  readonly onEnable: (enabled: boolean) => void
  readonly onEdit: () => void
  readonly onRemove: () => void
}

const RuleActions = ({ rule, onEnable, onEdit, onRemove }: RuleActionsProps) => {
  const [isSure, setIsSure] = useState(false)
  return (
    <div className="buttons">
      <label className="check">
        <input type="checkbox" checked={rule.enabled} onChange={(event) => onEnable(event.target.checked)} />
        <span>
          On<span className="for-readers">: {rule.id}</span>
        </span>
      </label>
      <button type="button" className="plain" onClick={onEdit}>
        Edit<span className="for-readers"> {rule.id}</span>
      </button>
      {isSure ? (
        <>
          <button type="button" className="danger" onClick={onRemove}>
            Delete
          </button>
          <button type="button" className="plain" onClick={() => setIsSure(false)}>
            Cancel
          </button>
        </>
      ) : (
        <button type="button" className="plain" onClick={() => setIsSure(true)}>
          Delete<span className="for-readers"> {rule.id}</span>
        </button>
      )}
    </div>
  )
}
