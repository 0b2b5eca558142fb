import { type RefObject, type SubmitEvent, useCallback, useEffect, useState } from "react"

import type { WorkspaceApi } from "../../api.ts"
import { requestKey } from "../../calls/describe-call.ts"
import { DiffView, type HunkChoice } from "../../diff/diff-view.tsx"
import { parseDiff } from "../../diff/diff.ts"
import { useLoad } from "../../hooks/use-load.ts"
import { Block, Facts, Key, Loading, Section, SeverityBadge } from "../../parts.tsx"
import { addressOf } from "../../route.ts"
import type { ApprovalAnswer, OpenRequest } from "../../wire.ts"
import { AllowPanel } from "./allow-panel.tsx"
import { EditArguments } from "./edit-arguments.tsx"

export type DetailMode = "look" | "edit" | "allow" | "feedback"

interface ApprovalDetailProps {
  readonly api: WorkspaceApi
  readonly request: OpenRequest
  readonly mode: DetailMode
  /** How the request ended; undefined while it is open. */
  readonly ended: string | undefined
  /** True while keyboard shortcuts may answer the request. */
  readonly isArmed: boolean
  readonly isBusy: boolean
  readonly heading: RefObject<HTMLHeadingElement | null>
  /** Hunks that are not to be made, see `hunkKey`. */
  readonly refused: ReadonlySet<string>
  readonly onRefused: (refused: ReadonlySet<string>) => void
  readonly onMode: (mode: DetailMode) => void
  readonly onAnswer: (answer: Omit<ApprovalAnswer, "binding">) => void
  /** Leaves a request that ended. */
  readonly onNext: () => void
}

/** A request in full, and the answers to it. One that is large is loaded first: nobody answers what was not shown. */
export const ApprovalDetail = (props: ApprovalDetailProps) => {
  const { api, request } = props
  const { id, isWhole = true } = request
  // By its id and not by the object, which is another after each load of the list: a form would be lost on the way.
  const load = useCallback(() => (isWhole ? Promise.resolve(undefined) : api.approval(id)), [api, id, isWhole])
  const { loaded } = useLoad(load)
  if (isWhole) return <WholeRequest {...props} />
  return <Loading loaded={loaded}>{(whole) => whole && <WholeRequest {...props} request={whole} />}</Loading>
}

const WholeRequest = (props: ApprovalDetailProps) => {
  const { api, request, mode, ended, isArmed, isBusy, heading, onMode, onAnswer, onNext } = props
  const { refused, onRefused } = props
  const hunks = request.isDivisible === true ? hunksIn(request.diff ?? "") : 0
  const choice = {
    refused,
    onChoose: (hunk: string, isRefused: boolean): void => {
      const next = new Set(refused)
      if (isRefused) next.add(hunk)
      else next.delete(hunk)
      onRefused(next)
    }
  }
  const key = (name: string) => isArmed && <Key>{name}</Key>
  const { tool, reason, description, offers = [] } = request
  return (
    <>
      <header className="detail-head">
        <h2 id="request-title" ref={heading} tabIndex={-1}>
          {tool} <SeverityBadge severity={description.severity.level} />
        </h2>
        <p className="quiet">
          {request.caller !== undefined && `Requested by ${request.caller.name}. `}
          {description.severity.reasons.length > 0 && `${description.severity.reasons.join(". ")}. `}
          Asked because {reason}. <a href={addressOf(request.workspace, "approvals", requestKey(request))}>Permalink</a>
        </p>
        {request.whyNoOffer !== undefined && (
          <p className="quiet">No rule can be stored for this: {request.whyNoOffer}.</p>
        )}
      </header>
      <div role="status">
        {ended !== undefined && (
          <p className="ended">
            <strong>Ended: {ended}.</strong> Nothing you type here is sent.{" "}
            <button type="button" onClick={onNext}>
              Next request
            </button>
          </p>
        )}
      </div>
      <div className="answers">
        {mode === "look" && ended === undefined && (
          <>
            {refused.size === 0 ? (
              <button type="button" className="primary" disabled={isBusy} onClick={() => onAnswer({ approved: true })}>
                Approve {key("a")}
              </button>
            ) : (
              <button
                type="button"
                className="primary"
                disabled={isBusy || refused.size === hunks}
                onClick={() => onAnswer({ approved: true, refusedHunks: [...refused].map(hunkOf) })}
              >
                Approve {hunks - refused.size} of {hunks} hunks
              </button>
            )}
            <button type="button" className="danger" disabled={isBusy} onClick={() => onAnswer({ approved: false })}>
              Deny {key("d")}
            </button>
            <button type="button" onClick={() => onMode("feedback")}>
              Deny with feedback {key("r")}
            </button>
            <button type="button" onClick={() => onMode("edit")}>
              Edit and approve {key("e")}
            </button>
            {offers.length > 0 && (
              <button type="button" onClick={() => onMode("allow")}>
                Always allow… {key("w")}
              </button>
            )}
            {!isArmed && (
              <span className="quiet">
                <Key>j</Key> enables the keys
              </span>
            )}
          </>
        )}
        {mode === "allow" && (
          <AllowPanel api={api} request={request} isBusy={isBusy} onAnswer={onAnswer} onCancel={() => onMode("look")} />
        )}
        {mode === "feedback" && <FeedbackPanel {...props} />}
      </div>
      {mode === "edit" ? (
        <EditArguments
          api={api}
          request={request}
          isBusy={isBusy}
          onApprove={(modifiedArgs) => onAnswer({ approved: true, modifiedArgs })}
          onCancel={() => onMode("look")}
        />
      ) : (
        <RequestBody request={request} choice={hunks > 1 ? choice : undefined} />
      )}
    </>
  )
}

/** A message to the agent, with a no or a yes. */
const FeedbackPanel = ({ isBusy, onMode, onAnswer }: ApprovalDetailProps) => {
  const [reason, setReason] = useState("")
  const send = (event: SubmitEvent): void => {
    event.preventDefault()
    onAnswer({ approved: false, ...(reason !== "" && { reason }) })
  }
  return (
    <form className="panel" onSubmit={send}>
      <label className="field">
        Message to the agent
        <input
          value={reason}
          maxLength={2000}
          onChange={(event) => setReason(event.target.value)}
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- it was just asked for
          autoFocus
        />
      </label>
      <div className="buttons">
        <button type="submit" className="danger" disabled={isBusy}>
          Deny
        </button>
        <button type="button" disabled={isBusy || reason === ""} onClick={() => onAnswer({ approved: true, reason })}>
          Approve with this message
        </button>
        <button type="button" onClick={() => onMode("look")}>
          Cancel
        </button>
      </div>
    </form>
  )
}

interface RequestBodyProps {
  readonly request: OpenRequest
  readonly choice: HunkChoice | undefined
}

const RequestBody = ({ request: { description, diff }, choice }: RequestBodyProps) => {
  const { command, network, url, host, types, filesAffected, parameters, detail } = description
  // Where one column has to do, the first change would be below the answers, which stay in sight.
  useEffect(() => {
    if (!window.matchMedia("(max-width: 50rem)").matches) return
    document.querySelector(".split-detail tr.is-changed")?.scrollIntoView({ block: "nearest" })
  }, [diff])
  const isShownInDiff = diff !== undefined && filesAffected.length === parseDiff(diff).length
  return (
    <>
      {command !== undefined && (
        <Section title={network === true ? "Runs with the network" : "Runs"}>
          <Block kind="command">{command}</Block>
        </Section>
      )}
      {url !== undefined && (
        <Section title={`Fetches from ${host ?? "somewhere"}`}>
          <Block>{url}</Block>
        </Section>
      )}
      {types !== undefined && (
        <Section title="Types">
          <Block>{types}</Block>
        </Section>
      )}
      {filesAffected.length > 0 && !isShownInDiff && (
        <Section title={filesAffected.length === 1 ? "Changes a file" : `Changes ${filesAffected.length} files`}>
          <ul className="paths">
            {filesAffected.map((path) => (
              <li key={path}>
                <code>{path}</code>
              </li>
            ))}
          </ul>
        </Section>
      )}
      {detail !== undefined && (
        <Section title={diff === undefined ? "In full" : "The change"}>
          {diff === undefined ? (
            <Block>{detail}</Block>
          ) : (
            <DiffView text={detail} {...(choice !== undefined && { choice })} />
          )}
        </Section>
      )}
      {parameters.length > 0 && (
        <Section title="Arguments">
          <Facts facts={parameters} />
        </Section>
      )}
    </>
  )
}

const hunksIn = (diff: string): number => parseDiff(diff).reduce((sum, { hunks }) => sum + hunks.length, 0)

const hunkOf = (key: string): { readonly path: string; readonly hunk: number } => {
  const at = key.lastIndexOf("\n")
  return { path: key.slice(0, at), hunk: Number(key.slice(at + 1)) }
}
