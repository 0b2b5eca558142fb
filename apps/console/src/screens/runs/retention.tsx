import { useState } from "react"

import type { WorkspaceApi } from "../../api.ts"
import { messageOf } from "../../hooks/use-load.ts"
import { Problem } from "../../parts.tsx"
import type { PrunedRuns } from "../../wire.ts"

const ages: ReadonlyArray<readonly [days: number, string]> = [
  [0, "All but the current run"],
  [7, "Older than 7 days"],
  [30, "Older than 30 days"],
  [90, "Older than 90 days"]
]

/** Removes the records and artifacts of old runs, once it is shown which; only an admin may. */
export const Retention = ({ api }: { readonly api: WorkspaceApi }) => {
  const [days, setDays] = useState(30)
  const [found, setFound] = useState<PrunedRuns & { readonly before: string }>()
  const [outcome, setOutcome] = useState<string>()
  const [problem, setProblem] = useState<string>()
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setOutcome(undefined)
    setProblem(undefined)
    await work().catch((error: unknown) => setProblem(messageOf(error)))
  }
  const look = () =>
    attempt(async () => {
      const before = new Date(Date.now() - days * 86_400_000).toISOString()
      setFound({ ...(await api.pruneRuns(before, true)), before })
    })
  const remove = (before: string) =>
    attempt(async () => {
      const { runs, bytes } = await api.pruneRuns(before, false)
      setFound(undefined)
      setOutcome(`Removed ${sizeText(runs.length, bytes)}.`)
    })
  return (
    <section aria-labelledby="retention-title">
      <h2 id="retention-title">Retention</h2>
      <div className="buttons">
        <label>
          <span className="for-readers">Runs to remove</span>
          <select value={days} onChange={(event) => (setDays(Number(event.target.value)), setFound(undefined))}>
            {ages.map(([age, title]) => (
              <option key={age} value={age}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <button type="button" onClick={() => void look()}>
          Find runs
        </button>
      </div>
      {found !== undefined && (
        <div className="buttons" role="status">
          {found.runs.length === 0 ? "No results" : sizeText(found.runs.length, found.bytes)}
          {found.runs.length > 0 && (
            <>
              <button type="button" className="danger" onClick={() => void remove(found.before)}>
                Delete
              </button>
              <button type="button" onClick={() => setFound(undefined)}>
                Cancel
              </button>
            </>
          )}
        </div>
      )}
      <Problem>{problem}</Problem>
      <output>{outcome}</output>
    </section>
  )
}

const sizeText = (runs: number, bytes: number): string =>
  `${runs === 1 ? "1 run" : `${runs.toLocaleString()} runs`} with ${(bytes / 1024 ** 2).toFixed(1)} MB`
