import { useCallback, useEffect, useRef, useState } from "react"

import type { WorkspaceApi } from "../../api.ts"
import { logOf, type RecordedCall } from "../../calls/call-log.ts"
import { outputIn } from "../../calls/call-output.ts"
import { type CallState, durationText, effectFacts, touchFacts } from "../../calls/describe-call.ts"
import { changeOf } from "../../diff/call-changes.ts"
import { DiffView } from "../../diff/diff-view.tsx"
import { messageOf, useLoad } from "../../hooks/use-load.ts"
import { isObject } from "../../is-object.ts"
import { Block, Facts, Json, Problem, Section, StateBadge } from "../../parts.tsx"
import { addressOf } from "../../route.ts"
import type { Decision } from "../../wire.ts"
import { ConnectionTable } from "../connection-table.tsx"
import { ArtifactText } from "./artifact-text.tsx"

interface CallDetailProps {
  readonly api: WorkspaceApi
  readonly workspace: string
  readonly call: RecordedCall
  readonly state: CallState
  /** True for a call of this run, which may still be under way. */
  readonly isLive: boolean
}

/** One call: what was asked, what it touched, how it was decided, what came back. The list has a summary; this is all. */
export const CallDetail = (props: CallDetailProps) => {
  const { api, call } = props
  const { run, step, seq, key, status, decidedAt, connections } = call
  // Loaded again when the call has gone on.
  const load = useCallback(
    async () => logOf(run, await api.callEvents(run, step, seq)).byKey.get(key),
    // oxlint-disable-next-line react-hooks/exhaustive-deps
    [api, run, step, seq, key, status, decidedAt, connections?.length]
  )
  const { loaded } = useLoad(load)
  if (loaded.state === "failed") return <Problem>{loaded.message}</Problem>
  const whole = loaded.state === "ready" ? loaded.value : undefined
  return <WholeCall {...props} call={whole ?? call} />
}

const WholeCall = ({ api, workspace, call, state, isLive }: CallDetailProps) => {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])
  const { touches, approval } = call
  const canUndo = state === "done" && (touches?.writes?.length ?? 0) > 0 && call.effects?.undoable !== false
  const facts: ReadonlyArray<readonly [string, string | undefined]> = [
    ["call", call.requestId],
    ["agent", call.caller?.name],
    ["dialect", call.dialect],
    ["started", new Date(call.startedAt).toLocaleString()],
    ["took", durationText(call.durationMs)],
    ["waited", call.waitedMs === undefined ? undefined : `${durationText(call.waitedMs)} of that for an answer`],
    ["error", call.error],
    ["decided", approval === undefined ? undefined : decisionText(approval)],
    ["why", whyText(approval)]
  ]
  return (
    <>
      <a className="back" href={addressOf(workspace, "activity")}>
        ← All calls
      </a>
      <header className="detail-head">
        <h2 ref={heading} tabIndex={-1}>
          {call.tool} <StateBadge state={state} />
        </h2>
      </header>
      <p className="quiet">
        <a href={addressOf(workspace, "activity", call.key)}>Permalink</a>
      </p>
      {canUndo && <UndoButton api={api} call={call} />}
      {isLive && (state === "running" || state === "waiting") && <StopButton api={api} call={call} />}
      {state === "waiting" && (
        <p>
          It waits for a person: <a href={addressOf(workspace, "approvals", call.key)}>approvals</a>.
        </p>
      )}
      <Section title="Facts">
        <Facts
          facts={[
            ...facts.flatMap(([name, value = ""]) => (value === "" ? [] : [{ name, value }])),
            ...touchFacts(touches),
            ...effectFacts(call.effects)
          ]}
        />
      </Section>
      {call.decidedDiff === undefined ? (
        <Change api={api} call={call} canUndo={canUndo} />
      ) : (
        <Section title={approval?.decision === "deny" ? "The change that was denied" : "The change that was approved"}>
          <DiffView text={call.decidedDiff} />
        </Section>
      )}
      <ConnectionTable events={call.connections ?? []} />
      {outputIn(call.reply).map(({ name, text }) => (
        <Section key={name} title={outputNames[name] ?? "Output"}>
          <Block>{text}</Block>
        </Section>
      ))}
      <Section title="Arguments">
        <Json value={call.params} />
      </Section>
      {call.reply !== undefined && (
        <Section title="Reply">
          <Json value={call.reply} />
        </Section>
      )}
      {artifactsIn(call.reply).map(({ run = call.run, path }) => (
        <ArtifactText key={path} api={api} run={run} path={path} />
      ))}
    </>
  )
}

const outputNames: Readonly<Record<string, string>> = { stdout: "Standard output", stderr: "Standard error" }

interface ChangeProps extends Pick<CallDetailProps, "api" | "call"> {
  readonly canUndo: boolean
}

const Change = ({ api, call, canUndo }: ChangeProps) => {
  const [kept] = artifactsIn(call.effects?.diff_path)
  if (kept !== undefined) return <KeptChange api={api} call={call} run={kept.run ?? call.run} path={kept.path} />
  return canUndo ? <MadeChange api={api} call={call} /> : <AskedChange call={call} />
}

interface KeptChangeProps extends Pick<CallDetailProps, "api" | "call"> {
  readonly run: string
  readonly path: string
}

/** Changes of a command, from the diff that was kept when they were committed. */
const KeptChange = ({ api, call, run, path }: KeptChangeProps) => {
  const load = useCallback(() => api.artifact(run, path, mostDiffBytes), [api, run, path])
  const { loaded } = useLoad(load)
  if (loaded.state === "loading") return null
  if (loaded.state === "failed") return <MadeChange api={api} call={call} />
  const { bytes, size } = loaded.value
  return (
    <Section title="The change">
      <DiffView text={new TextDecoder().decode(bytes)} />
      {size > bytes.length && <p className="quiet">The rest is in the artifact below.</p>}
    </Section>
  )
}

/** Bytes of a command's diff that are shown. */
const mostDiffBytes = 500_000

/**
 * Changes of the call: the preview of its undo, reversed. That preview fails where files have changed since; then the
 * change the call asked for is shown.
 */
const MadeChange = ({ api, call }: Pick<CallDetailProps, "api" | "call">) => {
  const { requestId } = call
  const load = useCallback(() => api.preview("undo", { call: requestId }, "haft"), [api, requestId])
  const { loaded } = useLoad(load)
  if (loaded.state === "loading") return null
  const diff = loaded.state === "ready" ? loaded.value.preview?.diff : undefined
  if (diff === undefined) return <AskedChange call={call} />
  return (
    <Section title="The change">
      <DiffView text={diff} isReversed />
    </Section>
  )
}

const AskedChange = ({ call }: Pick<CallDetailProps, "call">) => {
  const change = changeOf(call.params)
  if (change === undefined) return null
  return (
    <Section title="The change it asked for">
      <DiffView text={change} />
    </Section>
  )
}

const basisNames = {
  rule: "a rule",
  protected_path: "a protected path",
  mode: "the mode of the workspace",
  setting: "a setting of the host",
  contract: "the contract",
  error: "a policy that could not judge"
} as const

/** Why a person was asked, or not: the part of the policy that decided, in words. */
const whyText = (approval: Decision | undefined): string | undefined => {
  if (approval === undefined) return undefined
  const asked =
    approval.by === "policy" ? (approval.decision === "allow" ? "allowed without asking" : "denied") : "asked"
  if (approval.rule !== undefined) return `${asked} by rule ${approval.rule}`
  return approval.basis === undefined ? undefined : `${asked} by ${basisNames[approval.basis]}`
}

const decisionText = ({ decision, by, reason, person }: Decision): string =>
  by === "nobody"
    ? `unanswered: ${reason}`
    : `${decision === "allow" ? "Approved" : "Denied"} by ${person?.name ?? by}: ${reason}`

/** Stops a call that is under way; its caller is told who did. */
const StopButton = ({ api, call }: { readonly api: WorkspaceApi; readonly call: RecordedCall }) => {
  const [outcome, setOutcome] = useState<string>()
  const stop = (): void => {
    setOutcome("Stopping…")
    api.stopCall(call.step, "").then(
      () => setOutcome("Stopped"),
      (error: unknown) => setOutcome(messageOf(error))
    )
  }
  return (
    <div className="buttons">
      <button type="button" className="danger" onClick={stop}>
        Stop this call
      </button>
      <output>{outcome}</output>
    </div>
  )
}

/** Takes the call's changes back; refused by the server where a file has changed since. */
const UndoButton = ({ api, call }: { readonly api: WorkspaceApi; readonly call: RecordedCall }) => {
  const [outcome, setOutcome] = useState<string>()
  const undo = async (): Promise<void> => {
    setOutcome("Reverting…")
    try {
      setOutcome(outcomeText(await api.call("undo", { call: call.requestId }, "haft")))
    } catch (error) {
      setOutcome(messageOf(error))
    }
  }
  return (
    <div className="buttons">
      <button type="button" onClick={() => void undo()}>
        Revert
      </button>
      <output>{outcome}</output>
    </div>
  )
}

const outcomeText = (reply: unknown): string => {
  const { result, error } = (isObject(reply) ? reply : {}) as {
    result?: { paths?: ReadonlyArray<string> }
    error?: { message?: string }
  }
  return error === undefined ? `Reverted: ${result?.paths?.join(", ") ?? "done"}` : (error.message ?? "It failed.")
}

/** An artifact that a reply names: by its address, or by its path within the run of the call. */
interface NamedArtifact {
  readonly run?: string
  readonly path: string
}

const artifactName =
  /^(?:artifact:(?<run>[\w-]+)\/)?(?<path>(?:logs|diffs|replies|processes|terminals|contents)\/[\w./-]+)$/

/** Artifacts that are named anywhere in a reply. */
const artifactsIn = (reply: unknown): ReadonlyArray<NamedArtifact> => {
  if (typeof reply === "string") {
    const { run, path } = artifactName.exec(reply)?.groups ?? {}
    return path === undefined ? [] : [{ path, ...(run !== undefined && { run }) }]
  }
  return typeof reply === "object" && reply !== null ? Object.values(reply).flatMap(artifactsIn) : []
}
