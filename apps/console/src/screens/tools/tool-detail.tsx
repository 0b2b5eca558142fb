import { useState } from "react"

import type { WorkspaceApi } from "../../api.ts"
import { messageOf } from "../../hooks/use-load.ts"
import { isObject } from "../../is-object.ts"
import { Json, Problem, RiskBadge, Section } from "../../parts.tsx"
import { addressOf } from "../../route.ts"
import { type FieldValues, SchemaForm } from "../../schema/schema-form.tsx"
import type { Preview, ToolDescription } from "../../wire.ts"
import { PreviewOutcome } from "../approvals/preview-outcome.tsx"

interface ToolDetailProps {
  readonly api: WorkspaceApi
  readonly workspace: string
  readonly tool: ToolDescription
  /** Empty for the workspace's own dialect. */
  readonly dialect: string
}

/** One tool: its words, its schemas, and a form to try it. */
export const ToolDetail = ({ api, workspace, tool, dialect }: ToolDetailProps) => {
  const [preview, setPreview] = useState<Preview>()
  const [reply, setReply] = useState<unknown>()
  const [problem, setProblem] = useState<string>()
  const chosen = dialect === "" ? undefined : dialect
  const attempt = (work: Promise<void>): void => {
    setProblem(undefined)
    setPreview(undefined)
    setReply(undefined)
    work.catch((error: unknown) => setProblem(messageOf(error)))
  }
  const look = (values: FieldValues | undefined): void => {
    if (values !== undefined) attempt(api.preview(tool.name, values, chosen).then(setPreview))
  }
  const call = (values: FieldValues): void => attempt(api.call(tool.name, values, chosen).then(setReply))
  return (
    <>
      <a className="back" href={addressOf(workspace, "tools")}>
        ← All tools
      </a>
      <header className="detail-head">
        <h2>
          {tool.name} <RiskBadge risk={tool.risk} />
        </h2>
        <p>{tool.description}</p>
        <p className="quiet">
          from {tool.plugin}
          {tool.idempotent && " · the same call twice changes nothing more"}
          {tool.openWorld && " · reaches beyond this machine"}
        </p>
      </header>
      <Section title="Try it">
        <SchemaForm schema={tool.inputSchema} onSubmit={call}>
          {(read) => (
            <>
              <button type="submit" className="primary">
                Call
              </button>
              <button type="button" onClick={() => look(read())}>
                Preview
              </button>
            </>
          )}
        </SchemaForm>
      </Section>
      <div aria-live="polite">
        <Problem>{problem}</Problem>
        <PreviewOutcome preview={preview} />
        {reply !== undefined && (
          <Section title={isObject(reply) && reply["ok"] === false ? "It failed" : "Reply"}>
            <Json value={reply} />
          </Section>
        )}
      </div>
      <details className="section">
        <summary>Input schema</summary>
        <Json value={tool.inputSchema} />
      </details>
      <details className="section">
        <summary>Reply schema</summary>
        <Json value={tool.replySchema} />
      </details>
    </>
  )
}
