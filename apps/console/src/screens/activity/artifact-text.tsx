import { useState } from "react"

import type { WorkspaceApi } from "../../api.ts"
import { messageOf } from "../../hooks/use-load.ts"
import { Block } from "../../parts.tsx"

interface ArtifactTextProps {
  readonly api: WorkspaceApi
  readonly run: string
  readonly path: string
}

/** Of a longer file only the beginning is shown. */
const mostBytes = 500_000

/** A file that a call left behind, read when it is opened. */
export const ArtifactText = ({ api, run, path }: ArtifactTextProps) => {
  const [text, setText] = useState<string>()
  const load = async (): Promise<void> => {
    try {
      const { bytes, size } = await api.artifact(run, path, mostBytes)
      const shown = new TextDecoder().decode(bytes)
      const more = size > bytes.length ? `\n… ${(size - bytes.length).toLocaleString()} more bytes` : ""
      setText(size === 0 ? "(empty)" : shown + more)
    } catch (error) {
      setText(messageOf(error))
    }
  }
  return (
    <details className="section" onToggle={(event) => event.currentTarget.open && text === undefined && void load()}>
      <summary>
        <code>{path}</code>
      </summary>
      <Block>{text ?? "Loading…"}</Block>
    </details>
  )
}
