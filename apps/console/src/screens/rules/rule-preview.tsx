import { useEffect, useState } from "react"

import type { WorkspaceApi } from "../../api.ts"
import { callsText } from "../../calls/describe-call.ts"
import { messageOf } from "../../hooks/use-load.ts"
import type { Rule, Simulation } from "../../wire.ts"
import { isCondition, type RuleFields, ruleOf } from "./rule-fields.ts"

interface RulePreviewProps {
  readonly api: WorkspaceApi
  readonly run: string
  readonly fields: RuleFields
  /** The rule that would be replaced. */
  readonly rule: Rule | undefined
}

/** A pause in typing after which the rule is tried. */
const pauseMs = 400

/** Id of a new rule in its preview: the chosen one may be saved, and taken, by the time the server reads it. */
const previewId = "preview-of-a-new-rule"

/** Decisions that the rule in the form would have made about the calls of this run. */
export const RulePreview = ({ api, run, fields, rule }: RulePreviewProps) => {
  const [outcome, setOutcome] = useState<Simulation | string>()
  useEffect(() => {
    let isOver = false
    const preview = async (): Promise<void> => {
      try {
        const candidate = ruleOf({ ...fields, id: rule?.id ?? previewId }, rule)
        // Until something is named, a rule is about every call, which the server refuses for one that allows.
        if (!Object.keys(candidate).some((name) => isCondition(name))) return
        const simulated = await api.simulate(run, { rule: candidate, ...(rule !== undefined && { replaces: rule.id }) })
        if (!isOver) setOutcome(simulated)
      } catch (error) {
        if (!isOver) setOutcome(messageOf(error))
      }
    }
    const timer = window.setTimeout(() => void preview(), pauseMs)
    return () => {
      isOver = true
      window.clearTimeout(timer)
    }
  }, [api, run, fields, rule])
  if (outcome === undefined) return <p className="quiet">Name a tool or a condition to try the rule on this run.</p>
  if (typeof outcome === "string") return <p className="quiet">No preview: {outcome}</p>
  const { counts, flips } = outcome
  return (
    <section aria-label="Preview" aria-live="polite">
      <p>
        With this rule, {callsText(counts.allow)} of this run would be allowed, {counts.ask} asked about and{" "}
        {counts.deny} denied.
      </p>
      {flips.length > 0 && (
        <ul className="paths">
          {flips.slice(0, 10).map(({ requestId, tool, recorded, simulated }) => (
            <li key={requestId}>
              {tool}: {recorded.by === "policy" ? recorded.decision : "asked"} → {simulated.decision}
            </li>
          ))}
          {flips.length > 10 && <li className="quiet">and {flips.length - 10} more</li>}
        </ul>
      )}
    </section>
  )
}
