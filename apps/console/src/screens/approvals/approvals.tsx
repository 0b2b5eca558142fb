import { useEffect, useMemo, useRef, useState } from "react"

import { workspaceApi } from "../../api.ts"
import type { CallLog } from "../../calls/call-log.ts"
import { endText, requestKey, requestSubject, subjectOf, timeText } from "../../calls/describe-call.ts"
import { useConnection } from "../../events/feed.ts"
import { reloadInbox } from "../../events/inbox.ts"
import { messageOf } from "../../hooks/use-load.ts"
import { useSelectedRequest } from "../../hooks/use-selected-request.ts"
import { useShortcuts } from "../../hooks/use-shortcuts.ts"
import { Empty, Loading, Problem, SeverityBadge } from "../../parts.tsx"
import { addressOf } from "../../route.ts"
import type { ScreenProps } from "../../screen-props.ts"
import type { ApprovalAnswer } from "../../wire.ts"
import { ApprovalDetail, type DetailMode } from "./approval-detail.tsx"
import { BulkAnswers } from "./bulk-answers.tsx"
import { everything, fitsFilter, type InboxFilter, InboxFilters } from "./inbox-filters.tsx"
import { Age, TimeLeft } from "./time-left.tsx"

/** The requests of all workspaces that wait for a person, and the one that is selected. */
export const Approvals = (props: ScreenProps) => {
  const { inbox, item, log, workspace, workspaces, hasShortcuts } = props
  const [answered, setAnswered] = useState<ReadonlySet<string>>(new Set())
  const [filter, setFilter] = useState<InboxFilter>(everything)
  const open = useMemo(() => inbox.requests.filter(({ id }) => !answered.has(id)), [inbox.requests, answered])
  const requests = useMemo(() => open.filter((request) => fitsFilter(request, filter)), [open, filter])
  const linked =
    item === undefined ? undefined : open.find((one) => one.workspace === workspace && requestKey(one) === item)
  const { selected, isEnded, isArmed, isFresh, select, move, advance } = useSelectedRequest(requests, linked)
  const [mode, setMode] = useState<DetailMode>("look")
  const [refused, setRefused] = useState<ReadonlySet<string>>(new Set())
  const [problem, setProblem] = useState<string>()
  const [isSending, setIsSending] = useState(false)
  const isLive = useConnection() === "live"
  const heading = useRef<HTMLHeadingElement>(null)
  const shownId = useRef<string>(undefined)
  const selectedWorkspace = selected?.workspace ?? workspace
  const api = useMemo(() => workspaceApi(selectedWorkspace), [selectedWorkspace])

  useEffect(() => {
    const before = shownId.current
    shownId.current = selected?.id
    if (before === undefined || before === selected?.id) return
    heading.current?.focus()
  }, [selected?.id])
  const [lookedAt, setLookedAt] = useState(selected?.id)
  if (lookedAt !== selected?.id) {
    setLookedAt(selected?.id)
    setMode("look")
    setRefused(new Set())
  }

  const answer = async (given: Omit<ApprovalAnswer, "binding">): Promise<void> => {
    // A large request is loaded first; its heading appears together with all of it.
    if (selected === undefined || heading.current === null || isEnded || isSending || isFresh) return
    setIsSending(true)
    setProblem(undefined)
    try {
      await api.answer(selected.id, { ...given, binding: selected.binding })
      setAnswered((before) => new Set([...before, selected.id]))
      advance()
    } catch (error) {
      setProblem(messageOf(error))
      void reloadInbox()
    } finally {
      setIsSending(false)
    }
  }
  const whereArmed = (action: () => void): void => {
    if (isArmed && mode === "look") action()
  }
  useShortcuts(
    {
      j: () => move(1),
      k: () => move(-1),
      ArrowDown: () => move(1),
      ArrowUp: () => move(-1),
      // Parts are approved with the button that says how many.
      a: () => whereArmed(() => refused.size === 0 && void answer({ approved: true })),
      d: () => whereArmed(() => void answer({ approved: false })),
      r: () => whereArmed(() => setMode("feedback")),
      e: () => whereArmed(() => setMode("edit")),
      w: () => whereArmed(() => selected?.whyNoOffer === undefined && setMode("allow")),
      Escape: () => setMode("look")
    },
    hasShortcuts
  )

  if (selected === undefined) {
    return (
      <>
        <h2 className="for-readers" ref={heading} tabIndex={-1}>
          Approvals
        </h2>
        <Problem>{problem}</Problem>
        {open.length > 0 && <InboxFilters requests={open} filter={filter} onFilter={setFilter} />}
        <LinkedCall workspace={workspace} item={item} />
        <Loading loaded={inbox.loaded}>
          {() =>
            isLive ? (
              <Empty title="Nothing is waiting">
                When an agent asks for something that needs a person, it appears here at once.
              </Empty>
            ) : (
              <Empty title="Not connected">Requests may be pending. They appear when the connection is back.</Empty>
            )
          }
        </Loading>
        <TimedOut workspace={props.workspace} log={log} />
      </>
    )
  }
  return (
    <div className="split">
      <section className="split-list" aria-label="Waiting requests">
        <h2>
          Pending <span className="quiet">{requests.length}</span>
        </h2>
        <InboxFilters requests={open} filter={filter} onFilter={setFilter} />
        <BulkAnswers requests={requests} onAnswered={(ids) => setAnswered((before) => new Set([...before, ...ids]))} />
        {linked === undefined && <LinkedCall workspace={workspace} item={item} />}
        <ul className="cards">
          {requests.map((request) => (
            <li key={request.id}>
              <button
                type="button"
                className="card"
                aria-current={request.id === selected.id}
                onClick={() => select(request)}
              >
                <span className="card-title">
                  <strong>{request.tool}</strong>
                  <SeverityBadge severity={request.description.severity.level} />
                </span>
                <span className="card-subject">{requestSubject(request)}</span>
                <span className="quiet">
                  {workspaces.length > 1 && `${request.workspace} · `}
                  {request.caller?.name ?? request.dialect} · <Age since={request.askedAt} />
                  {request.expiresAt !== undefined && <TimeLeft expiresAt={request.expiresAt} />}
                </span>
              </button>
            </li>
          ))}
        </ul>
        <TimedOut workspace={props.workspace} log={log} />
      </section>
      <article className="split-detail" aria-labelledby="request-title">
        <Problem>{problem}</Problem>
        <ApprovalDetail
          key={selected.id}
          api={api}
          request={selected}
          mode={mode}
          ended={isEnded ? endText(selected, inbox.closed.get(selected.id)) : undefined}
          isArmed={isArmed && hasShortcuts}
          isBusy={isEnded || isSending || isFresh}
          heading={heading}
          refused={refused}
          onRefused={setRefused}
          onMode={setMode}
          onAnswer={(given) => void answer(given)}
          onNext={() => select(requests[0])}
        />
      </article>
    </div>
  )
}

/** A link to a request that is not open any more leads to its call. */
const LinkedCall = ({ workspace, item }: { readonly workspace: string; readonly item: string | undefined }) =>
  item === undefined ? null : (
    <p className="quiet">
      The request of the link is not pending any more. <a href={addressOf(workspace, "activity", item)}>See the call</a>
    </p>
  )

/** Requests of this run that nobody answered, the latest first. */
const TimedOut = ({ workspace, log }: { readonly workspace: string; readonly log: CallLog }) => {
  const calls = log.calls.filter(({ approval }) => approval?.by === "nobody").slice(-20)
  if (calls.length === 0) return null
  return (
    <section aria-labelledby="unanswered-title">
      <h3 id="unanswered-title">Timed out</h3>
      <ul className="paths">
        {calls.toReversed().map((call) => (
          <li key={call.key}>
            <a href={addressOf(workspace, "activity", call.key)}>
              {call.tool} {subjectOf(call)}
            </a>{" "}
            <span className="quiet">
              {timeText(call.decidedAt ?? call.startedAt)}: {call.approval?.reason}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
