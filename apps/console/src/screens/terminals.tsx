import { visibleText } from "@haft/core/visible-text"
import { useCallback, useEffect, useMemo, useRef, useState } from "react"

import type { WorkspaceApi } from "../api.ts"
import { timeText } from "../calls/describe-call.ts"
import { messageOf, useLoad } from "../hooks/use-load.ts"
import { Empty, Problem } from "../parts.tsx"
import { addressOf } from "../route.ts"
import type { ScreenProps } from "../screen-props.ts"
import { followTerminal, replayRecording } from "../terminal/terminal-feed.ts"
import { sessionsOf, type TerminalSession } from "../terminal/terminal-sessions.ts"
import { TerminalView } from "../terminal/terminal-view.tsx"

const nothing: ReadonlyArray<never> = []

/** The terminals that agents have opened, and what they show. */
export const Terminals = ({ api, workspace, item, log, news }: ScreenProps) => {
  const { loaded, reload } = useLoad(api.terminals)
  useEffect(() => reload(), [reload, news.terminals])
  const terminals = loaded.state === "ready" ? loaded.value : nothing
  const sessions = useMemo(() => sessionsOf(terminals, log.calls), [terminals, log])
  const open = sessions.find(({ id }) => id === item) ?? sessions.find(({ isRunning }) => isRunning) ?? sessions[0]
  if (open === undefined) {
    return (
      <>
        <h2 className="for-readers">Terminals</h2>
        <Empty title="No terminals">When an agent opens a terminal, you can watch it here.</Empty>
      </>
    )
  }
  return (
    <div className="split">
      <section className="split-list" aria-label="Sessions">
        <h2>
          Terminals <span className="quiet">{sessions.filter(({ isRunning }) => isRunning).length} running</span>
        </h2>
        <ul className="cards">
          {sessions.map((session) => (
            <li key={session.id}>
              <a
                className="card"
                href={addressOf(workspace, "terminals", session.id)}
                aria-current={session.id === open.id}
              >
                <span className="card-title">
                  <strong>{session.command}</strong>
                  <span
                    className={`state ${session.isRunning ? "running" : session.hasFailed === true ? "failed" : "done"}`}
                  >
                    {session.isRunning ? "Running" : `Ended${session.end === undefined ? "" : `, ${session.end}`}`}
                  </span>
                </span>
                <span className="quiet">
                  {session.id} · {timeText(session.openedAt)}
                </span>
              </a>
            </li>
          ))}
        </ul>
      </section>
      <article className="split-detail" aria-label={`Terminal ${open.command}`}>
        <Session key={open.id} api={api} session={open} />
      </article>
    </div>
  )
}

const Session = ({ api, session }: { readonly api: WorkspaceApi; readonly session: TerminalSession }) => {
  const [isTakenOver, setIsTakenOver] = useState(false)
  const [problem, setProblem] = useState<string>()
  const type = useTyping(api, session.id, setProblem)
  const takeOver = useRef<HTMLButtonElement>(null)
  const giveBack = (): void => {
    setIsTakenOver(false)
    takeOver.current?.focus()
  }
  const canType = isTakenOver && session.isRunning
  const { id, recorded } = session
  const [run, path] = [recorded?.run, recorded?.path]
  const feed = useMemo(
    () => (run === undefined || path === undefined ? followTerminal(api, id) : replayRecording(api, run, path)),
    [api, id, run, path]
  )
  return (
    <>
      <header className="detail-head">
        <h2>
          <code>{visibleText(session.command)}</code>
        </h2>
        {session.isRunning && (
          <button type="button" ref={takeOver} aria-pressed={isTakenOver} onClick={() => setIsTakenOver(!isTakenOver)}>
            {isTakenOver ? "Give back" : "Take over"}
          </button>
        )}
        <span className="quiet">{whatItIs(session, canType)}</span>
      </header>
      <Problem>{problem}</Problem>
      <TerminalView
        feed={feed}
        label={`Terminal ${session.command}`}
        onTyped={canType ? type : undefined}
        onLeave={giveBack}
      />
    </>
  )
}

const whatItIs = ({ isRunning, recorded }: TerminalSession, canType: boolean): string => {
  if (canType) return "What you type goes to the program; Ctrl+Shift+Enter gives it back."
  if (isRunning) return "You are watching."
  return recorded === undefined ? "It has ended." : "It has ended; this is its recording."
}

/** Sends typed text in order, one request at a time: what is typed during a request is sent together by the next. */
const useTyping = (api: WorkspaceApi, id: string, onProblem: (message: string | undefined) => void) => {
  const waiting = useRef("")
  const isSending = useRef(false)
  return useCallback(
    (typed: string) => {
      waiting.current += typed
      const send = async (): Promise<void> => {
        isSending.current = true
        while (waiting.current !== "") {
          const text = waiting.current
          waiting.current = ""
          onProblem(await api.typeInto(id, text).then(() => undefined, messageOf))
        }
        isSending.current = false
      }
      if (!isSending.current) void send()
    },
    [api, id, onProblem]
  )
}
