import { useDeferredValue, useMemo, useRef, useState } from "react"

import { emptyLog, mostCalls } from "../../calls/call-log.ts"
import { type CallState, callsText, fitsSearch, stateNames, stateOf } from "../../calls/describe-call.ts"
import { useRun } from "../../hooks/use-run.ts"
import { useShortcuts } from "../../hooks/use-shortcuts.ts"
import { Empty, Key, Loading } from "../../parts.tsx"
import { addressOf, goTo } from "../../route.ts"
import type { ScreenProps } from "../../screen-props.ts"
import { CallDetail } from "./call-detail.tsx"
import { CallList } from "./call-list.tsx"
import { ExportButton } from "./export-button.tsx"
import { RecordSearch } from "./record-search.tsx"
import { RunChoice } from "./run-choice.tsx"

/** Every call, newest first, and the one that is open. */
export const Activity = ({ api, workspace, run, item, log: live, inbox, hasShortcuts }: ScreenProps) => {
  const linkedRun = item === undefined ? undefined : runIn(item)
  const { chosen, choose, log: loaded } = useRun(api, run, live, linkedRun)
  const [search, setSearch] = useState("")
  const [state, setState] = useState<CallState | "">("")
  const [tool, setTool] = useState("")
  const searchBox = useRef<HTMLInputElement>(null)
  const log = loaded.state === "ready" ? loaded.value : emptyLog

  const waiting = useMemo(
    () => new Set(inbox.requests.filter((one) => one.workspace === workspace).map(({ stepId }) => stepId)),
    [inbox.requests, workspace]
  )
  const wanted = useDeferredValue(search)
  const shown = useMemo(
    () =>
      log.calls
        .filter(
          (call) =>
            (tool === "" || call.tool === tool) &&
            (state === "" || stateOf(call, waiting) === state) &&
            fitsSearch(call, wanted)
        )
        .toReversed(),
    [log, wanted, state, tool, waiting]
  )
  const tools = useMemo(() => [...new Set(log.calls.map((call) => call.tool))].toSorted(), [log])
  const open = item === undefined ? undefined : log.byKey.get(item)
  const move = (by: number): void => {
    const at = shown.findIndex(({ key }) => key === item)
    const next = shown[at === -1 ? 0 : Math.min(shown.length - 1, Math.max(0, at + by))]
    if (next !== undefined) goTo(addressOf(workspace, "activity", next.key))
  }
  useShortcuts(
    {
      j: () => move(1),
      k: () => move(-1),
      "/": () => searchBox.current?.focus(),
      Escape: () => goTo(addressOf(workspace, "activity"))
    },
    hasShortcuts
  )

  return (
    <div className="split" data-open={open !== undefined}>
      <section className="split-list wide" aria-label="Calls">
        <h2>
          Activity <span className="quiet">{callsText(shown.length)}</span>
        </h2>
        <search className="filters">
          <label className="search">
            <span className="for-readers">Search</span>
            <input
              ref={searchBox}
              type="search"
              placeholder="Search"
              value={search}
              onChange={(event) => setSearch(event.target.value)}
            />
            <Key>/</Key>
          </label>
          <label>
            <span className="for-readers">State</span>
            <select value={state} onChange={(event) => setState(event.target.value as CallState | "")}>
              <option value="">Any state</option>
              {Object.entries(stateNames).map(([name, label]) => (
                <option key={name} value={name}>
                  {label}
                </option>
              ))}
            </select>
          </label>
          <label>
            <span className="for-readers">Tool</span>
            <select value={tool} onChange={(event) => setTool(event.target.value)}>
              <option value="">Any tool</option>
              {tools.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <RunChoice api={api} current={run} chosen={chosen} onChange={choose} />
          <ExportButton api={api} run={chosen} />
        </search>
        <RecordSearch api={api} workspace={workspace} text={wanted} />
        {log.isCut === true && (
          <p className="quiet">The last {callsText(mostCalls)}; older ones are found by search.</p>
        )}
        <Loading loaded={loaded}>
          {() =>
            shown.length === 0 ? (
              <Empty title={log.calls.length === 0 ? "No calls" : "No results"}>
                {log.calls.length === 0 ? "Calls appear here as they happen." : "None fits the search."}
              </Empty>
            ) : (
              <CallList workspace={workspace} calls={shown} openKey={open?.key} waiting={waiting} />
            )
          }
        </Loading>
      </section>
      <article key={open?.key} className="split-detail" aria-label="The open call">
        {open === undefined ? (
          <Empty title="Select a call">Select one to see what went in and what came out.</Empty>
        ) : (
          <CallDetail
            api={api}
            call={open}
            state={stateOf(open, waiting)}
            workspace={workspace}
            isLive={open.run === run}
          />
        )}
      </article>
    </div>
  )
}

/** The run of a call's key, `<run>.<step>`. */
const runIn = (key: string): string | undefined => /^(.+)\.\d+$/.exec(key)?.[1]
