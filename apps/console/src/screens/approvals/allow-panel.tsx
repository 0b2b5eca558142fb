import { type SubmitEvent, useState } from "react"

import { Json } from "../../parts.tsx"
import type { ApprovalAnswer, OpenRequest, RememberScope } from "../../wire.ts"
import { RuleSummary } from "../rules/rule-summary.tsx"

interface AllowPanelProps {
  readonly request: OpenRequest
  readonly isBusy: boolean
  readonly onAnswer: (answer: Omit<ApprovalAnswer, "binding">) => void
  readonly onCancel: () => void
}

const scopes: ReadonlyArray<readonly [RememberScope, string]> = [
  ["run", "Until the server ends"],
  ["workspace", "In this workspace"],
  ["always", "In every workspace that shares its state"]
]

/** Approves a request and stores a rule, which is shown first: what it allows, and for how long. */
export const AllowPanel = ({ request, isBusy, onAnswer, onCancel }: AllowPanelProps) => {
  const { offers = [] } = request
  const [chosen, setChosen] = useState(offers[0]?.id)
  const [scope, setScope] = useState<RememberScope>("run")
  const [isJson, setIsJson] = useState(false)
  const offer = offers.find(({ id }) => id === chosen)
  if (offer === undefined) return null
  const { workspace: _workspace, ...anywhere } = offer.rule
  const send = (event: SubmitEvent): void => {
    event.preventDefault()
    onAnswer({ approved: true, remember: { offer: offer.id, scope } })
  }
  const rule = scope === "always" ? anywhere : offer.rule
  return (
    <form className="panel" aria-label="The rule that would be stored" onSubmit={send}>
      <fieldset className="choices">
        <legend>Allow without asking</legend>
        {offers.map(({ id, label }, index) => (
          <label key={id} className="check">
            <input
              type="radio"
              name="offer"
              checked={id === chosen}
              onChange={() => setChosen(id)}
              // oxlint-disable-next-line jsx-a11y/no-autofocus -- it was just asked for
              autoFocus={index === 0}
            />
            {label}
          </label>
        ))}
      </fieldset>
      <label className="field">
        For how long
        <select value={scope} onChange={(event) => setScope(event.target.value as RememberScope)}>
          {scopes.map(([name, title]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <p>
        This rule would be stored:
        <button type="button" className="plain" onClick={() => setIsJson(!isJson)}>
          {isJson ? "in words" : "as JSON"}
        </button>
      </p>
      {isJson ? <Json value={rule} /> : <RuleSummary rule={rule} />}
      <div className="buttons">
        <button type="submit" className="primary" disabled={isBusy}>
          Approve and store the rule
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  )
}
