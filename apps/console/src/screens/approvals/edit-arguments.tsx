import { useCallback, useEffect, useRef, useState } from "react"

import type { WorkspaceApi } from "../../api.ts"
import { messageOf, useLoad } from "../../hooks/use-load.ts"
import { Loading, Section } from "../../parts.tsx"
import { type FieldValues, SchemaForm } from "../../schema/schema-form.tsx"
import type { OpenRequest, Preview } from "../../wire.ts"
import { PreviewOutcome } from "./preview-outcome.tsx"

interface EditArgumentsProps {
  readonly api: WorkspaceApi
  readonly request: OpenRequest
  readonly isBusy: boolean
  readonly onApprove: (values: FieldValues) => void
  readonly onCancel: () => void
}

/** The request's arguments in a form, with a look at what the edited ones would do. */
export const EditArguments = ({ api, request, isBusy, onApprove, onCancel }: EditArgumentsProps) => {
  const { tool, dialect, args } = request
  const load = useCallback(
    async () => (await api.tools(dialect)).find(({ name }) => name === tool)?.inputSchema ?? {},
    [api, dialect, tool]
  )
  const { loaded } = useLoad(load)
  const [preview, setPreview] = useState<Preview>()
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (loaded.state === "ready") place.current?.querySelector<HTMLElement>("input, textarea, select")?.focus()
  }, [loaded.state])
  const look = (values: FieldValues | undefined): void => {
    if (values === undefined) return
    api
      .preview(tool, values, dialect)
      .catch((error: unknown): Preview => ({ ok: false, error: { message: messageOf(error) } }))
      .then(setPreview, () => {})
  }
  return (
    <div ref={place} className="edit">
      <Section title="Edit the arguments">
        <Loading loaded={loaded}>
          {(schema) => (
            <SchemaForm schema={schema} initial={args ?? {}} onSubmit={onApprove}>
              {(read) => (
                <>
                  <button type="submit" className="primary" disabled={isBusy}>
                    Approve these arguments
                  </button>
                  <button type="button" onClick={() => look(read())}>
                    Preview
                  </button>
                  <button type="button" onClick={onCancel}>
                    Back
                  </button>
                </>
              )}
            </SchemaForm>
          )}
        </Loading>
      </Section>
      <div aria-live="polite" ref={(shown) => preview && shown?.scrollIntoView({ block: "nearest" })}>
        <PreviewOutcome preview={preview} />
      </div>
    </div>
  )
}
