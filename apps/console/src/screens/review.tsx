import { type SubmitEvent, useCallback, useState } from "react"

import type { WorkspaceApi } from "../api.ts"
import { type DiffSection, diffSections } from "../diff/diff-sections.ts"
import { DiffView } from "../diff/diff-view.tsx"
import { messageOf, useLoad } from "../hooks/use-load.ts"
import { isObject } from "../is-object.ts"
import { Empty, Loading, Problem } from "../parts.tsx"
import { addressOf, goTo } from "../route.ts"
import type { ScreenProps } from "../screen-props.ts"
import type { AgentState, Preview } from "../wire.ts"
import { RunChoice } from "./activity/run-choice.tsx"
import { ReplayRun } from "./runs/replay-run.tsx"

/** All that a run changed, as one diff: to read, to comment on, and to revert. */
export const Review = ({ api, workspace, run, item }: ScreenProps) => {
  const chosen = item ?? run
  // Each file as the undo of the run would change it: reversed it is what the run has changed.
  const load = useCallback(() => api.preview("undo", { run: chosen }, "haft"), [api, chosen])
  const { loaded, reload } = useLoad(load)
  const loadAgents = useCallback(() => api.agents(), [api])
  const { loaded: agents } = useLoad(loadAgents)
  return (
    <>
      <header className="section-head">
        <h2>Review</h2>
        <RunChoice
          api={api}
          current={run}
          chosen={chosen}
          onChange={(next) => goTo(addressOf(workspace, "review", next))}
        />
        <button type="button" onClick={reload}>
          Reload
        </button>
      </header>
      <ReplayRun key={chosen} api={api} run={chosen} />
      <Loading loaded={loaded}>
        {(preview) => (
          <Changes
            key={chosen}
            api={api}
            run={chosen}
            preview={preview}
            agents={agents.state === "ready" ? agents.value : []}
            onChange={reload}
          />
        )}
      </Loading>
    </>
  )
}

interface ChangesProps {
  readonly api: WorkspaceApi
  readonly run: string
  readonly preview: Preview
  readonly agents: ReadonlyArray<AgentState>
  readonly onChange: () => void
}

const Changes = ({ api, run, preview, agents, onChange }: ChangesProps) => {
  const sections = diffSections(preview.preview?.diff ?? "")
  const [viewed, setViewed] = useState<ReadonlySet<string>>(new Set())
  const [outcome, setOutcome] = useState<string>()
  const revert = async (tool: string, params: object): Promise<void> => {
    setOutcome("Reverting…")
    setOutcome(await api.call(tool, params, "haft").then(outcomeText, messageOf))
    onChange()
  }
  if (preview.preview === undefined) {
    return <Empty title="Nothing to review">{preview.error?.message ?? "This run has changed no file."}</Empty>
  }
  return (
    <>
      <div className="buttons">
        <button type="button" className="danger" onClick={() => void revert("undo", { run })}>
          Revert everything
        </button>
        <output>{outcome}</output>
      </div>
      <nav className="file-tree" aria-label="Changed files">
        <ul className="paths">
          {sections.map(({ path, hunks }) => (
            <li key={path}>
              <button
                type="button"
                className="plain"
                onClick={() => document.getElementById(anchor(path))?.scrollIntoView()}
              >
                {viewed.has(path) ? "✓ " : ""}
                {path}
              </button>{" "}
              <span className="quiet">{hunks.length === 1 ? "1 hunk" : `${hunks.length} hunks`}</span>
            </li>
          ))}
        </ul>
      </nav>
      {sections.map((section) => (
        <FileReview
          key={section.path}
          api={api}
          section={section}
          agents={agents}
          isViewed={viewed.has(section.path)}
          onViewed={(isViewed) => {
            const next = new Set(viewed)
            if (isViewed) next.add(section.path)
            else next.delete(section.path)
            setViewed(next)
          }}
          onRevert={(patch) => void revert("apply_patch", { patch })}
        />
      ))}
    </>
  )
}

interface FileReviewProps {
  readonly api: WorkspaceApi
  readonly section: DiffSection
  readonly agents: ReadonlyArray<AgentState>
  readonly isViewed: boolean
  readonly onViewed: (isViewed: boolean) => void
  readonly onRevert: (patch: string) => void
}

const FileReview = ({ api, section, agents, isViewed, onViewed, onRevert }: FileReviewProps) => (
  <section className="section file-review" id={anchor(section.path)} aria-label={section.path}>
    <header className="section-head">
      <h3>{section.path}</h3>
      <label className="check">
        <input type="checkbox" checked={isViewed} onChange={(event) => onViewed(event.target.checked)} />
        Viewed
      </label>
      <button type="button" onClick={() => onRevert(section.text)}>
        Revert<span className="for-readers"> {section.path}</span>
      </button>
      {section.hunks.length > 1 &&
        section.hunks.map((hunk, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- hunks have no identity but their index
          <button key={index} type="button" className="plain" onClick={() => onRevert(hunk)}>
            Revert hunk {index + 1}
            <span className="for-readers"> of {section.path}</span>
          </button>
        ))}
    </header>
    {!isViewed && <DiffView text={section.text} isReversed />}
    <Comment api={api} path={section.path} agents={agents} />
  </section>
)

/** A comment about a file, for an agent, with the reply to its next call. */
const Comment = ({ api, path, agents }: Pick<FileReviewProps, "api" | "agents"> & { readonly path: string }) => {
  const [agent, setAgent] = useState("")
  const [text, setText] = useState("")
  const [outcome, setOutcome] = useState<string>()
  const [problem, setProblem] = useState<string>()
  const to = agent === "" ? agents[0]?.name : agent
  if (to === undefined) return null
  const send = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    setProblem(undefined)
    try {
      await api.tellAgent(to, `about ${path}: ${text}`)
      setText("")
      setOutcome(`Sent to ${to}`)
    } catch (error) {
      setProblem(messageOf(error))
    }
  }
  return (
    <form className="buttons" onSubmit={(event) => void send(event)}>
      <label>
        <span className="for-readers">Comment on {path}</span>
        <input
          placeholder="Comment to the agent"
          value={text}
          maxLength={5000}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      {agents.length > 1 && (
        <label>
          <span className="for-readers">Agent for {path}</span>
          <select value={to} onChange={(event) => setAgent(event.target.value)}>
            {agents.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      )}
      <button type="submit" disabled={text === ""}>
        Comment
      </button>
      <output>{outcome}</output>
      <Problem>{problem}</Problem>
    </form>
  )
}

const anchor = (path: string): string => `file-${path}`

const outcomeText = (reply: unknown): string => {
  const { error } = (isObject(reply) ? reply : {}) as { error?: { message?: string } }
  return error === undefined ? "Reverted" : (error.message ?? "It failed.")
}
