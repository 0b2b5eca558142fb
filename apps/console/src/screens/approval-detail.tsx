import { type RefObject, type SubmitEvent, useCallback, useState } from "react"

import type { WorkspaceApi } from "../api.ts"
import { DiffView } from "../diff/diff-view.tsx"
import { parseDiff } from "../diff/diff.ts"
import { useLoad } from "../hooks/use-load.ts"
import { Block, Facts, Json, Key, Loading, RiskBadge, Section } from "../parts.tsx"
import type { ApprovalAnswer, OpenRequest } from "../wire.ts"
import { EditArguments } from "./edit-arguments.tsx"
import { RuleSummary } from "./rule-summary.tsx"

export type DetailMode = "look" | "edit" | "always" | "deny"

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
  const key = (name: string) => isArmed && <Key>{name}</Key>
  const { tool, reason, description } = request
  return (
    <>
      <header className="detail-head">
        <h2 id="request-title" ref={heading} tabIndex={-1}>
          {tool} <RiskBadge risk={description.risk} />
        </h2>
        <p className="quiet">
          {request.caller !== undefined && `Requested by ${request.caller.name}. `}
          {reason}
        </p>
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
            <button type="button" className="primary" disabled={isBusy} onClick={() => onAnswer({ approved: true })}>
              Approve {key("a")}
            </button>
            <button type="button" className="danger" disabled={isBusy} onClick={() => onAnswer({ approved: false })}>
              Deny {key("d")}
            </button>
            <button type="button" onClick={() => onMode("deny")}>
              Deny with feedback {key("r")}
            </button>
            <button type="button" onClick={() => onMode("edit")}>
              Edit and approve {key("e")}
            </button>
            {request.always !== undefined && (
              <button type="button" onClick={() => onMode("always")}>
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
        {mode === "always" && <AlwaysPanel {...props} />}
        {mode === "deny" && <DenyPanel {...props} />}
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
        <RequestBody request={request} />
      )}
    </>
  )
}

const AlwaysPanel = ({ request, isBusy, onMode, onAnswer }: ApprovalDetailProps) => {
  const [isJson, setIsJson] = useState(false)
  if (request.always === undefined) return null
  return (
    <section className="panel" aria-label="The rule that would be stored">
      <p>
        This rule would be stored. It allows exactly this from now on:
        <button type="button" className="plain" onClick={() => setIsJson(!isJson)}>
          {isJson ? "in words" : "as JSON"}
        </button>
      </p>
      {isJson ? <Json value={request.always} /> : <RuleSummary rule={request.always} />}
      <div className="buttons">
        <button
          type="button"
          className="primary"
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- it was just asked for, and Enter is the next key
          autoFocus
          disabled={isBusy}
          onClick={() => onAnswer({ approved: true, remember: true })}
        >
          Approve and store the rule
        </button>
        <button type="button" onClick={() => onMode("look")}>
          Back
        </button>
      </div>
    </section>
  )
}

const DenyPanel = ({ isBusy, onMode, onAnswer }: ApprovalDetailProps) => {
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
        <button type="button" onClick={() => onMode("look")}>
          Back
        </button>
      </div>
    </form>
  )
}

const RequestBody = ({ request: { description, diff } }: { readonly request: OpenRequest }) => {
  const { command, network, url, host, types, filesAffected, parameters, detail } = description
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
          {diff === undefined ? <Block>{detail}</Block> : <DiffView text={detail} />}
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
