import { visibleText } from "@haft/core/visible-text"
import { useState } from "react"

import type { FoundCalls, WorkspaceApi } from "../../api.ts"
import { touchFacts } from "../../calls/describe-call.ts"
import { messageOf } from "../../hooks/use-load.ts"
import { Problem } from "../../parts.tsx"
import { addressOf } from "../../route.ts"
import type { FoundCall } from "../../wire.ts"

interface RecordSearchProps {
  readonly api: WorkspaceApi
  readonly workspace: string
  readonly text: string
}

/** Searches the calls of all runs on the server, in everything that is on record about them. */
export const RecordSearch = ({ api, workspace, text }: RecordSearchProps) => {
  const [found, setFound] = useState<FoundCalls & { readonly query: Readonly<Record<string, string>> }>()
  const [problem, setProblem] = useState<string>()
  const [isSearching, setIsSearching] = useState(false)
  const search = async (query: Readonly<Record<string, string>>, before?: FoundCalls): Promise<void> => {
    setProblem(undefined)
    setIsSearching(true)
    try {
      const more = before?.before === undefined ? {} : { before: before.before }
      const { calls, ...cursor } = await api.search({ ...query, ...more })
      setFound({ query, calls: [...(before?.calls ?? []), ...calls], ...cursor })
    } catch (error) {
      setProblem(messageOf(error))
    }
    setIsSearching(false)
  }
  if (text === "" && found === undefined) return null
  return (
    <div aria-live="polite">
      <div className="buttons">
        <button type="button" disabled={isSearching || text === ""} onClick={() => void search({ text })}>
          Search all runs
        </button>
        <button
          type="button"
          disabled={isSearching || text === ""}
          onClick={() => void search({ changed: text, limit: "1" })}
        >
          Last change of this path
        </button>
        {found !== undefined && (
          <button type="button" className="plain" onClick={() => setFound(undefined)}>
            Clear results
          </button>
        )}
      </div>
      <Problem>{problem}</Problem>
      {found !== undefined && (
        <section aria-label="Results from all runs">
          {found.calls.length === 0 && <p className="quiet">No results</p>}
          <ul className="paths">
            {found.calls.map((call) => (
              <li key={`${call.run}.${call.step}`}>
                <a href={addressOf(workspace, "activity", `${call.run}.${call.step}`)}>
                  {call.tool} {subjectOf(call)}
                </a>{" "}
                <span className="quiet">
                  {new Date(call.startedAt).toLocaleString()} · {call.agent ?? "unnamed"} · {call.error ?? call.status}
                </span>
              </li>
            ))}
          </ul>
          {found.before !== undefined && (
            <button type="button" disabled={isSearching} onClick={() => void search(found.query, found)}>
              Search older runs
            </button>
          )}
        </section>
      )}
    </div>
  )
}

const subjectOf = ({ touches }: FoundCall): string =>
  visibleText(touchFacts(touches).find(({ name }) => name !== "network")?.value ?? "").slice(0, 120)
