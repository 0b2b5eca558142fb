import { useState } from "react"

import type { WorkspaceApi } from "../../api.ts"
import { callsText } from "../../calls/describe-call.ts"
import { messageOf } from "../../hooks/use-load.ts"
import { Problem, ScrollBox, Section } from "../../parts.tsx"
import type { Rule, Simulation } from "../../wire.ts"
import { RunChoice } from "../activity/run-choice.tsx"
import { RuleSummary } from "./rule-summary.tsx"

interface SimulatorProps {
  readonly api: WorkspaceApi
  readonly run: string
  readonly onAccept: (rule: Rule) => void
}

/** Tries the rules on calls that have been made. */
export const Simulator = ({ api, run, onAccept }: SimulatorProps) => {
  const [chosen, setChosen] = useState(run)
  const [outcome, setOutcome] = useState<Simulation>()
  const [problem, setProblem] = useState<string>()
  const simulate = async (): Promise<void> => {
    setProblem(undefined)
    try {
      setOutcome(await api.simulate(chosen))
    } catch (error) {
      setOutcome(undefined)
      setProblem(messageOf(error))
    }
  }
  return (
    <section aria-labelledby="simulate-title">
      <header className="section-head">
        <h2 id="simulate-title">Simulate</h2>
        <RunChoice api={api} current={run} chosen={chosen} onChange={setChosen} />
        <button type="button" onClick={() => void simulate()}>
          Run simulation
        </button>
      </header>
      <p className="quiet">What the rules, as they stand, would have decided about the calls of a run.</p>
      <div aria-live="polite">
        <Problem>{problem}</Problem>
        {outcome !== undefined && <Outcome outcome={outcome} onAccept={onAccept} />}
      </div>
    </section>
  )
}

const Outcome = ({ outcome, onAccept }: { readonly outcome: Simulation; readonly onAccept: (rule: Rule) => void }) => {
  const { counts, flips, undecided, proposals } = outcome
  return (
    <>
      <dl className="tiles">
        {Object.entries({ ...counts, undecided }).map(([name, count]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{count}</dd>
          </div>
        ))}
      </dl>
      <Section title={flips.length === 0 ? "Nothing would change" : `${callsText(flips.length)} would go another way`}>
        {flips.length > 0 && (
          <ScrollBox label="Calls that would go another way">
            <table>
              <thead>
                <tr>
                  <th scope="col">Call</th>
                  <th scope="col">Before</th>
                  <th scope="col">After</th>
                  <th scope="col">Because</th>
                </tr>
              </thead>
              <tbody>
                {flips.slice(0, 200).map(({ requestId, tool, recorded, simulated }) => (
                  <tr key={requestId}>
                    <td>{tool}</td>
                    <td>{recorded.by === "policy" ? recorded.decision : "asked"}</td>
                    <td>
                      <span className={`badge ${simulated.decision}`}>{simulated.decision}</span>
                    </td>
                    <td>{simulated.reason}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </ScrollBox>
        )}
      </Section>
      {proposals.length > 0 && (
        <Section title="Rules that would spare questions">
          <ul className="cards">
            {proposals.map(({ rule, questionsSpared }) => (
              <li key={rule.id} className="card">
                <RuleSummary rule={rule} />
                <div className="buttons">
                  <button type="button" onClick={() => onAccept(rule)}>
                    Add this rule
                  </button>
                  <span className="quiet">spares {questionsSpared} questions</span>
                </div>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  )
}
