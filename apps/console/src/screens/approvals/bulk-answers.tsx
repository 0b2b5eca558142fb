import { useState } from "react"

import { workspaceApi } from "../../api.ts"
import { requestSubject } from "../../calls/describe-call.ts"
import { messageOf } from "../../hooks/use-load.ts"
import { Problem } from "../../parts.tsx"
import type { OpenRequest } from "../../wire.ts"

interface BulkAnswersProps {
  readonly requests: ReadonlyArray<OpenRequest>
  readonly onAnswered: (ids: ReadonlyArray<string>) => void
}

/** Answers several requests at once. Equal ones are one line; what a list shows only in part is answered one by one. */
export const BulkAnswers = ({ requests, onAnswered }: BulkAnswersProps) => {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [problem, setProblem] = useState<string>()
  const [isSending, setIsSending] = useState(false)
  const whole = requests.filter(({ isWhole = true }) => isWhole)
  if (whole.length < 2) return null
  const groups = [...Map.groupBy(whole, (one) => `${one.workspace}: ${one.tool} ${requestSubject(one)}`)]
  const selected = whole.filter(({ id }) => chosen.has(id))
  const choose = (group: ReadonlyArray<OpenRequest>, isOn: boolean): void => {
    const next = new Set(chosen)
    for (const { id } of group) {
      if (isOn) next.add(id)
      else next.delete(id)
    }
    setChosen(next)
  }
  const answer = async (approved: boolean): Promise<void> => {
    setIsSending(true)
    setProblem(undefined)
    const done: Array<string> = []
    const problems: Array<string> = []
    for (const { id, workspace, binding } of selected) {
      await workspaceApi(workspace)
        .answer(id, { approved, binding })
        .then(
          () => done.push(id),
          (error: unknown) => problems.push(messageOf(error))
        )
    }
    setIsSending(false)
    setChosen(new Set())
    setProblem(problems[0])
    onAnswered(done)
  }
  return (
    <details className="section bulk">
      <summary>Select several</summary>
      <ul className="paths">
        {groups.map(([name, group]) => (
          <li key={name}>
            <label className="check">
              <input
                type="checkbox"
                checked={group.every(({ id }) => chosen.has(id))}
                onChange={(event) => choose(group, event.target.checked)}
              />
              <span>
                {name} {group.length > 1 && <strong>× {group.length}</strong>}
              </span>
            </label>
          </li>
        ))}
      </ul>
      <Problem>{problem}</Problem>
      <div className="buttons">
        <button
          type="button"
          className="primary"
          disabled={isSending || selected.length === 0}
          onClick={() => void answer(true)}
        >
          Approve {selected.length} selected
        </button>
        <button
          type="button"
          className="danger"
          disabled={isSending || selected.length === 0}
          onClick={() => void answer(false)}
        >
          Deny {selected.length} selected
        </button>
      </div>
    </details>
  )
}
