import { useCallback, useState } from "react"

import { useLoad } from "../../hooks/use-load.ts"
import { Empty, Loading, RiskBadge } from "../../parts.tsx"
import { addressOf } from "../../route.ts"
import type { ScreenProps } from "../../screen-props.ts"
import { ToolDetail } from "./tool-detail.tsx"

/** The tools of each dialect, and the one that is open. */
export const Tools = ({ api, workspace, dialects, item }: ScreenProps) => {
  const [dialect, setDialect] = useState("")
  const [search, setSearch] = useState("")
  const load = useCallback(() => api.tools(dialect === "" ? undefined : dialect), [api, dialect])
  const { loaded } = useLoad(load)
  const tools = loaded.state === "ready" ? loaded.value : []
  const open = tools.find(({ name }) => name === item)
  const shown = tools.filter(({ name, description }) =>
    `${name} ${description}`.toLowerCase().includes(search.toLowerCase())
  )
  return (
    <div className="split" data-open={open !== undefined}>
      <section className="split-list" aria-label="Catalog">
        <h2>
          Tools <span className="quiet">{tools.length}</span>
        </h2>
        <search className="filters">
          <label className="search">
            <span className="for-readers">Search</span>
            <input
              type="search"
              placeholder="Search tools"
              value={search}
              onChange={(event) => setSearch(event.target.value)}
            />
          </label>
          <label>
            <span className="for-readers">Dialect</span>
            <select value={dialect} onChange={(event) => setDialect(event.target.value)}>
              <option value="">{dialects[0]}</option>
              {dialects.slice(1).map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        </search>
        <Loading loaded={loaded}>
          {() => (
            <ul className="cards">
              {shown.length === 0 && <li className="quiet">No tool fits the search.</li>}
              {shown.map((tool) => (
                <li key={tool.name}>
                  <a
                    className="card"
                    href={addressOf(workspace, "tools", tool.name)}
                    aria-current={tool.name === open?.name}
                  >
                    <span className="card-title">
                      <strong>{tool.name}</strong>
                      <RiskBadge risk={tool.risk} />
                    </span>
                    <span className="card-text">{tool.description}</span>
                  </a>
                </li>
              ))}
            </ul>
          )}
        </Loading>
      </section>
      <article key={`${dialect}/${open?.name}`} className="split-detail" aria-label="The open tool">
        {open === undefined ? (
          <Empty title="No tool is open">Choose one to see its schema and to try it.</Empty>
        ) : (
          <ToolDetail api={api} workspace={workspace} tool={open} dialect={dialect} />
        )}
      </article>
    </div>
  )
}
