import { type SubmitEvent, useCallback, useState } from "react"

import type { WorkspaceApi } from "../../api.ts"
import { callsText } from "../../calls/describe-call.ts"
import { useLoad } from "../../hooks/use-load.ts"
import { Json } from "../../parts.tsx"
import type { ApprovalAnswer, OpenRequest, RememberScope, Rule } from "../../wire.ts"
import { RuleSummary } from "../rules/rule-summary.tsx"

interface AllowPanelProps {
  readonly api: WorkspaceApi
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

const lifetimes: ReadonlyArray<readonly [hours: number, string]> = [
  [0, "Never"],
  [1, "In an hour"],
  [8, "In 8 hours"],
  [7 * 24, "In 7 days"],
  [30 * 24, "In 30 days"]
]

/** Approves a request and stores a rule, which is shown first: what it allows, and for how long. */
export const AllowPanel = ({ api, request, isBusy, onAnswer, onCancel }: AllowPanelProps) => {
  const { offers = [] } = request
  const [chosen, setChosen] = useState(offers[0]?.id)
  const [scope, setScope] = useState<RememberScope>("run")
  const [hours, setHours] = useState(0)
  const [isJson, setIsJson] = useState(false)
  const offer = offers.find(({ id }) => id === chosen)
  if (offer === undefined) return null
  const { workspace: _workspace, ...anywhere } = offer.rule
  const send = (event: SubmitEvent): void => {
    event.preventDefault()
    const expires = hours === 0 ? {} : { expires: new Date(Date.now() + hours * 3_600_000).toISOString() }
    onAnswer({ approved: true, remember: { offer: offer.id, scope, ...expires } })
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
        Scope
        <select value={scope} onChange={(event) => setScope(event.target.value as RememberScope)}>
          {scopes.map(([name, title]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <label className="field">
        Expires
        <select value={hours} onChange={(event) => setHours(Number(event.target.value))}>
          {lifetimes.map(([length, title]) => (
            <option key={length} value={length}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <Coverage key={offer.id} api={api} run={request.run} rule={offer.rule} />
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

interface CoverageProps {
  readonly api: WorkspaceApi
  readonly run: string
  readonly rule: Rule
}

/** Calls of this run that the rule would have allowed without a question. */
const Coverage = ({ api, run, rule }: CoverageProps) => {
  const load = useCallback(() => api.simulate(run, { rule }), [api, run, rule])
  const { loaded } = useLoad(load)
  // A run whose first call waits here has nothing to try the rule on.
  if (loaded.state === "failed") return null
  if (loaded.state === "loading") return <p className="quiet">Trying it on the calls of this run…</p>
  const { counts, flips } = loaded.value
  const spared = flips.filter(({ change }) => change === "less").length
  return (
    <p className="quiet" role="status">
      Of the {callsText(counts.allow + counts.ask + counts.deny)} of this run, it would have allowed {spared} that were
      asked about or denied.
    </p>
  )
}
