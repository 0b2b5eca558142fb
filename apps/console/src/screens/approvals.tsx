import { useEffect, useMemo, useRef, useState } from "react"

import { requestSubject, timeText } from "../calls/describe-call.ts"
import { messageOf } from "../hooks/use-load.ts"
import { useShortcuts } from "../hooks/use-shortcuts.ts"
import { Empty, Loading, Problem, RiskBadge } from "../parts.tsx"
import type { ScreenProps } from "../screen-props.ts"
import type { ApprovalAnswer } from "../wire.ts"
import { ApprovalDetail, type DetailMode } from "./approval-detail.tsx"

/**
 * For so long a request that took the place of another can't be answered: a key pressed now was meant for the one
 * before, and nobody reads a request in less time.
 */
const readingMs = 400

/** The requests that wait for a person, and the one that is open. */
export const Approvals = (props: ScreenProps) => {
  const { api, requests: open, requestsLoaded, reloadApprovals, hasShortcuts } = props
  const [answered, setAnswered] = useState<ReadonlySet<string>>(new Set())
  const requests = useMemo(() => open.filter(({ id }) => !answered.has(id)), [open, answered])
  const [selectedId, setSelectedId] = useState<string>()
  const [mode, setMode] = useState<DetailMode>("look")
  const [problem, setProblem] = useState<string>()
  const [isSending, setIsSending] = useState(false)
  const [isFresh, setIsFresh] = useState(false)
  const heading = useRef<HTMLHeadingElement>(null)
  const shownId = useRef<string>(undefined)

  const position = Math.max(
    0,
    requests.findIndex(({ id }) => id === selectedId)
  )
  const selected = requests[position]

  useEffect(() => {
    const before = shownId.current
    shownId.current = selected?.id
    if (before === undefined || before === selected?.id) return
    heading.current?.focus()
  }, [selected?.id])
  useEffect(() => {
    if (!isFresh) return undefined
    const timer = window.setTimeout(() => setIsFresh(false), readingMs)
    return () => window.clearTimeout(timer)
  }, [isFresh])

  const [lookedAt, setLookedAt] = useState(selected?.id)
  if (lookedAt !== selected?.id) {
    setLookedAt(selected?.id)
    setMode("look")
    if (lookedAt !== undefined && !requests.some(({ id }) => id === lookedAt)) setIsFresh(true)
  }

  const answer = async (given: Omit<ApprovalAnswer, "binding">): Promise<void> => {
    // A large request is loaded first; its heading appears together with all of it.
    if (selected === undefined || heading.current === null || isSending || isFresh) return
    setIsSending(true)
    setProblem(undefined)
    try {
      await api.answer(selected.id, { ...given, binding: selected.binding })
      setAnswered((before) => new Set([...before, selected.id]))
    } catch (error) {
      setProblem(messageOf(error))
    } finally {
      setIsSending(false)
      reloadApprovals()
    }
  }
  const move = (by: number): void => {
    const next = requests[Math.min(requests.length - 1, Math.max(0, position + by))]
    if (next !== undefined) setSelectedId(next.id)
  }
  useShortcuts(
    {
      j: () => move(1),
      k: () => move(-1),
      ArrowDown: () => move(1),
      ArrowUp: () => move(-1),
      a: () => mode === "look" && void answer({ approved: true }),
      d: () => mode === "look" && void answer({ approved: false }),
      r: () => setMode("deny"),
      e: () => setMode("edit"),
      w: () => selected?.always !== undefined && setMode("always"),
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
        <Loading loaded={requestsLoaded}>
          {() => (
            <Empty title="Nothing is waiting">
              When an agent asks for something that needs a person, it appears here at once.
            </Empty>
          )}
        </Loading>
      </>
    )
  }
  return (
    <div className="split">
      <section className="split-list" aria-label="Waiting requests">
        <h2>
          Waiting <span className="quiet">{requests.length}</span>
        </h2>
        <ul className="cards">
          {requests.map((request) => (
            <li key={request.id}>
              <button
                type="button"
                className="card"
                aria-current={request.id === selected.id}
                onClick={() => setSelectedId(request.id)}
              >
                <span className="card-title">
                  <strong>{request.tool}</strong>
                  <RiskBadge risk={request.description.risk} />
                </span>
                <span className="card-subject">{requestSubject(request)}</span>
                <span className="quiet">
                  since {timeText(request.askedAt)} · {request.dialect}
                </span>
              </button>
            </li>
          ))}
        </ul>
      </section>
      <article className="split-detail" aria-labelledby="request-title">
        <Problem>{problem}</Problem>
        <ApprovalDetail
          key={selected.id}
          api={api}
          request={selected}
          mode={mode}
          isBusy={isSending || isFresh}
          heading={heading}
          onMode={setMode}
          onAnswer={(given) => void answer(given)}
        />
      </article>
    </div>
  )
}
