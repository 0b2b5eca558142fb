import { type SubmitEvent, useCallback, useEffect, useState } from "react"

import { loadOverview, type WorkspaceApi } from "../api.ts"
import { subscribeToFeed } from "../events/feed.ts"
import { messageOf, useLoad } from "../hooks/use-load.ts"
import { Empty, Loading, Problem, ScrollBox } from "../parts.tsx"
import { addressOf } from "../route.ts"
import type { ScreenProps } from "../screen-props.ts"
import type { AgentState, WorkspaceOverview } from "../wire.ts"
import { Age } from "./approvals/time-left.tsx"
import { Retention } from "./runs/retention.tsx"

/** News within this time causes one load. */
const gatherMs = 1_000

/** All workspaces at a glance, and the agents of the chosen one. */
export const Overview = ({ api, workspace }: ScreenProps) => {
  const { loaded, reload } = useLoad(loadOverview)
  const loadAgents = useCallback(() => api.agents(), [api])
  const { loaded: agents, reload: reloadAgents } = useLoad(loadAgents)
  useEffect(() => {
    let timer: number | undefined
    const stop = subscribeToFeed(() => {
      timer ??= window.setTimeout(() => {
        timer = undefined
        reload()
        reloadAgents()
      }, gatherMs)
    })
    return () => {
      stop()
      window.clearTimeout(timer)
    }
  }, [reload, reloadAgents])
  return (
    <>
      <h2>Workspaces</h2>
      <Loading loaded={loaded}>{(workspaces) => <WorkspaceTable workspaces={workspaces} />}</Loading>
      <h2>Agents in {workspace}</h2>
      <Loading loaded={agents}>
        {(known) =>
          known.length === 0 ? (
            <Empty title="No agents yet">An agent is listed once it has called a tool with a token of its own.</Empty>
          ) : (
            <ul className="cards">
              {known.map((agent) => (
                <li key={agent.name} className="card">
                  <Agent api={api} agent={agent} onChange={reloadAgents} />
                </li>
              ))}
            </ul>
          )
        }
      </Loading>
      <Retention key={workspace} api={api} />
    </>
  )
}

const WorkspaceTable = ({ workspaces }: { readonly workspaces: ReadonlyArray<WorkspaceOverview> }) => (
  <ScrollBox label="Workspaces">
    <table>
      <thead>
        <tr>
          {["Workspace", "Mode", "Pending", "Running", "Terminals", "Agents", "Last call", "Code index", "Health"].map(
            (name) => (
              <th key={name} scope="col">
                {name}
              </th>
            )
          )}
        </tr>
      </thead>
      <tbody>
        {workspaces.map((one) => (
          <tr key={one.name}>
            <th scope="row">
              <a href={addressOf(one.name, "activity")}>{one.name}</a>
            </th>
            <td>{one.mode}</td>
            <td>
              {one.pending}
              {one.oldestPendingAt !== undefined && (
                <>
                  , oldest <Age since={one.oldestPendingAt} />
                </>
              )}
            </td>
            <td>{Math.max(0, one.running)}</td>
            <td>{one.terminals}</td>
            <td>
              {one.agents}
              {one.paused > 0 && `, ${one.paused} paused`}
            </td>
            <td>{one.lastCallAt === undefined ? "none" : <Age since={one.lastCallAt} />}</td>
            <td>
              {one.codeIndex === undefined ? (
                "not built"
              ) : (
                <>
                  {one.codeIndex.files} files, {(one.codeIndex.bytes / 2 ** 20).toFixed(1)} MiB,{" "}
                  <Age since={one.codeIndex.refreshedAt} />
                </>
              )}
            </td>
            <td>{one.health === "ok" ? "Healthy" : one.problems.join("; ")}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </ScrollBox>
)

interface AgentProps {
  readonly api: WorkspaceApi
  readonly agent: AgentState
  readonly onChange: () => void
}

const Agent = ({ api, agent, onChange }: AgentProps) => {
  const [message, setMessage] = useState("")
  const [problem, setProblem] = useState<string>()
  const change = (work: Promise<void>): void => {
    setProblem(undefined)
    work.then(onChange, (error: unknown) => setProblem(messageOf(error)))
  }
  const send = (event: SubmitEvent): void => {
    event.preventDefault()
    change(api.tellAgent(agent.name, message))
    setMessage("")
  }
  const isPaused = agent.paused !== undefined
  return (
    <>
      <span className="card-title">
        <strong>{agent.name}</strong>
        {isPaused && <span className="badge ask">Paused by {agent.paused?.by?.name ?? "a person"}</span>}
      </span>
      <span className="quiet">
        {agent.lastCallAt === 0 ? (
          "no call yet"
        ) : (
          <>
            last call <Age since={agent.lastCallAt} />
          </>
        )}
        {agent.messages > 0 && ` · ${agent.messages} unread`}
      </span>
      <Problem>{problem}</Problem>
      <form className="buttons" onSubmit={send}>
        <button type="button" onClick={() => change(api.pauseAgent(agent.name, !isPaused))}>
          {isPaused ? "Resume" : "Pause"}
          <span className="for-readers"> {agent.name}</span>
        </button>
        <label>
          <span className="for-readers">Message to {agent.name}</span>
          <input
            placeholder="Message to the agent"
            value={message}
            maxLength={2000}
            onChange={(event) => setMessage(event.target.value)}
          />
        </label>
        <button type="submit" disabled={message === ""}>
          Send
        </button>
      </form>
    </>
  )
}
