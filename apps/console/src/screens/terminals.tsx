import { useCallback, useMemo, useRef, useState } from "react"

import type { WorkspaceApi } from "../api.ts"
import { isObject, timeText } from "../describe-call.ts"
import { Empty, Problem } from "../parts.tsx"
import { addressOf } from "../route.ts"
import { type TerminalSession, sessionsIn } from "../terminal-sessions.ts"
import { TerminalView } from "../terminal-view.tsx"
import { messageOf } from "../use-load.ts"
import type { ScreenProps } from "../workspace.ts"

/** The terminals that agents have opened, and what they show. */
export const Terminals = ({ api, workspace, item, log }: ScreenProps) => {
  const sessions = useMemo(() => sessionsIn(log.calls), [log])
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
                  <span className={`state ${session.isRunning ? "running" : "done"}`}>
                    {session.isRunning ? "Running" : "Ended"}
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
  const canType = isTakenOver && session.isRunning
  return (
    <>
      <header className="detail-head">
        <h2>
          <code>{session.command}</code>
        </h2>
        {session.isRunning && (
          <button type="button" aria-pressed={isTakenOver} onClick={() => setIsTakenOver(!isTakenOver)}>
            {isTakenOver ? "Give back" : "Take over"}
          </button>
        )}
        <span className="quiet">{canType ? "What you type goes to the program." : "You are watching."}</span>
      </header>
      <Problem>{problem}</Problem>
      <TerminalView
        api={api}
        run={session.run}
        recording={session.recording}
        label={`Terminal ${session.command}`}
        isRunning={session.isRunning}
        onTyped={canType ? type : undefined}
      />
    </>
  )
}

/** Types one piece after the other; what is typed meanwhile goes along with the next. */
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
          const reply = await api
            .call("write_terminal", { terminal_id: id, text, quiet_ms: 50 }, "haft")
            .catch(messageOf)
          onProblem(problemIn(reply))
        }
        isSending.current = false
      }
      if (!isSending.current) void send()
    },
    [api, id, onProblem]
  )
}

const problemIn = (reply: unknown): string | undefined => {
  if (typeof reply === "string") return reply
  const error = isObject(reply) ? reply["error"] : undefined
  return isObject(error) ? String(error["message"]) : undefined
}
