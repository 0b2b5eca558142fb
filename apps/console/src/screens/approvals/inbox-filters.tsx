import type { OpenRequest } from "../../wire.ts"

/** Which requests to show; an empty text is any. */
export interface InboxFilter {
  readonly workspace: string
  readonly agent: string
}

export const everything: InboxFilter = { workspace: "", agent: "" }

export const fitsFilter = (request: OpenRequest, { workspace, agent }: InboxFilter): boolean =>
  (workspace === "" || request.workspace === workspace) && (agent === "" || request.caller?.name === agent)

interface InboxFiltersProps {
  readonly requests: ReadonlyArray<OpenRequest>
  readonly filter: InboxFilter
  readonly onFilter: (filter: InboxFilter) => void
}

/** Filters by workspace and agent, each with its count, where there is more than one. */
export const InboxFilters = ({ requests, filter, onFilter }: InboxFiltersProps) => {
  const workspaces = Map.groupBy(requests, ({ workspace }) => workspace)
  const agents = Map.groupBy(requests, ({ caller }) => caller?.name ?? "")
  if (workspaces.size < 2 && agents.size < 2 && filter === everything) return null
  return (
    <search className="filters">
      <label>
        <span className="for-readers">Workspace of the requests</span>
        <select value={filter.workspace} onChange={(event) => onFilter({ ...filter, workspace: event.target.value })}>
          <option value="">All workspaces ({requests.length})</option>
          {[...workspaces].map(([name, own]) => (
            <option key={name} value={name}>
              {name} ({own.length})
            </option>
          ))}
        </select>
      </label>
      <label>
        <span className="for-readers">Agent</span>
        <select value={filter.agent} onChange={(event) => onFilter({ ...filter, agent: event.target.value })}>
          <option value="">All agents</option>
          {[...agents]
            .filter(([name]) => name !== "")
            .map(([name, own]) => (
              <option key={name} value={name}>
                {name} ({own.length})
              </option>
            ))}
        </select>
      </label>
    </search>
  )
}
