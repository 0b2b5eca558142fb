import { type SubmitEvent, useEffect, useState } from "react"

import { drainMember, loadCluster, moveWorkspace } from "../api.ts"
import { messageOf, useLoad } from "../hooks/use-load.ts"
import { Empty, Loading, Problem, ScrollBox } from "../parts.tsx"
import { addressOf } from "../route.ts"
import type { ScreenProps } from "../screen-props.ts"
import type { ClusterStatus, MemberState } from "../wire.ts"

/** Owners change without an event, so the state is loaded again as long as the screen is shown. */
const refreshMs = 2_000

type Member = ClusterStatus["members"][number]
type Workspace = ClusterStatus["workspaces"][number]

/** Members of the cluster, workspaces and their owners. */
export const Cluster = ({ me }: ScreenProps) =>
  me.cluster === true ? (
    <Status isAdmin={me.role === "admin"} />
  ) : (
    <Empty title="This server is not a member of a cluster" />
  )

const Status = ({ isAdmin }: { readonly isAdmin: boolean }) => {
  const { loaded, reload } = useLoad(loadCluster)
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    const timer = window.setInterval(reload, refreshMs)
    return () => window.clearInterval(timer)
  }, [reload])
  const change = (work: Promise<void>): void => {
    setProblem(undefined)
    work.then(reload, (error: unknown) => setProblem(messageOf(error)))
  }
  return (
    <>
      <Problem>{problem}</Problem>
      <Loading loaded={loaded}>
        {({ members, workspaces }) => (
          <>
            <h2>Members</h2>
            <Members members={members} isAdmin={isAdmin} onChange={change} />
            <h2>Workspaces and their owners</h2>
            <Workspaces workspaces={workspaces} members={members} onChange={change} />
          </>
        )}
      </Loading>
    </>
  )
}

interface Changing {
  readonly onChange: (work: Promise<void>) => void
}

const stateNames: Readonly<Record<MemberState, readonly [name: string, badge: string]>> = {
  active: ["Active", "allow"],
  draining: ["Draining", "ask"],
  unreachable: ["Unreachable", "deny"],
  left: ["Left", ""]
}

const Head = ({ names }: { readonly names: ReadonlyArray<string> }) => (
  <thead>
    <tr>
      {names.map((name) => (
        <th key={name} scope="col">
          {name}
        </th>
      ))}
    </tr>
  </thead>
)

const Members = ({
  members,
  isAdmin,
  onChange
}: Changing & { readonly members: ReadonlyArray<Member>; readonly isAdmin: boolean }) => (
  <ScrollBox label="Members">
    <table>
      <Head names={["Address", "State", "Workspaces", "Lag", "Version", "URL", ...(isAdmin ? ["Maintenance"] : [])]} />
      <tbody>
        {members.map(({ id, address, state, workspaces, lag, version, url }) => (
          <tr key={id}>
            <th scope="row">{address}</th>
            <td>
              <span className={`badge ${stateNames[state][1]}`}>{stateNames[state][0]}</span>
            </td>
            <td>{workspaces.toLocaleString()}</td>
            <td>{lag.toLocaleString()} bytes</td>
            <td>{version}</td>
            <td>{url}</td>
            {isAdmin && (
              <td>
                <button type="button" disabled={state !== "active"} onClick={() => onChange(drainMember(address))}>
                  Drain<span className="for-readers"> {address}</span>
                </button>
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  </ScrollBox>
)

const Workspaces = ({
  workspaces,
  members,
  onChange
}: Changing & { readonly workspaces: ReadonlyArray<Workspace>; readonly members: ReadonlyArray<Member> }) =>
  workspaces.length === 0 ? (
    <Empty title="No workspace has been opened yet">A member opens a workspace when somebody asks for it.</Empty>
  ) : (
    <ScrollBox label="Workspaces and their owners">
      <table>
        <Head names={["Workspace", "Owner", "Epoch", "Commits", "Not carried over", "Move to"]} />
        <tbody>
          {workspaces.map((workspace) => (
            <tr key={workspace.name}>
              <th scope="row">
                <a href={addressOf(workspace.name, "activity")}>{workspace.name}</a>
              </th>
              <td>{workspace.owner ?? "nobody"}</td>
              <td>{workspace.epoch}</td>
              <td>{workspace.commits}</td>
              <td>
                <NotCarried paths={workspace.notCarried} />
              </td>
              <td>
                <Move workspace={workspace} members={members} onChange={onChange} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  )

const NotCarried = ({ paths }: { readonly paths: ReadonlyArray<string> }) =>
  paths.length === 0 ? (
    "nothing"
  ) : (
    <details>
      <summary>{paths.length === 1 ? "1 path" : `${paths.length} paths`}</summary>
      <ul>
        {paths.map((path) => (
          <li key={path}>
            <code>{path}</code>
          </li>
        ))}
      </ul>
    </details>
  )

const Move = ({
  workspace: { name, owner },
  members,
  onChange
}: Changing & { readonly workspace: Workspace; readonly members: ReadonlyArray<Member> }) => {
  const targets = members.filter(({ state, address }) => state === "active" && address !== owner)
  const [chosen, setChosen] = useState<string>()
  const target = targets.find(({ address }) => address === chosen)?.address ?? targets[0]?.address
  if (target === undefined || owner === undefined) return "–"
  const move = (event: SubmitEvent): void => {
    event.preventDefault()
    onChange(moveWorkspace(name, target))
  }
  return (
    <form className="buttons" onSubmit={move}>
      <label>
        <span className="for-readers">Member that takes {name}</span>
        <select value={target} onChange={(event) => setChosen(event.target.value)}>
          {targets.map(({ address }) => (
            <option key={address}>{address}</option>
          ))}
        </select>
      </label>
      <button type="submit">
        Move<span className="for-readers"> {name}</span>
      </button>
    </form>
  )
}
