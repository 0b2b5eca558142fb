import { useState } from "react"

import type { WorkspaceApi } from "./api.ts"
import { messageOf } from "./hooks/use-load.ts"
import { type ApprovalMode, approvalModes } from "./wire.ts"

interface ModeChoiceProps {
  readonly api: WorkspaceApi
  readonly mode: ApprovalMode
  /** The contract that callers speak by default. */
  readonly dialect: string
}

const descriptions: Readonly<Record<ApprovalMode, string>> = {
  plan: "Only reads run; all else is refused",
  ask: "The contract decides what is asked about",
  "accept-edits": "Undoable changes of files run without a question",
  auto: "Undoable changes and sandboxed commands that can be undone run without a question"
}

/** How much of the workspace runs without a question, and the way to change it. */
export const ModeChoice = ({ api, mode, dialect }: ModeChoiceProps) => {
  const [problem, setProblem] = useState<string>()
  const change = async (next: ApprovalMode): Promise<void> => {
    setProblem(undefined)
    await api.setMode(next).catch((error: unknown) => setProblem(messageOf(error)))
  }
  const contract = dialect === "agentbench" && mode !== "plan" ? ". The contract agentbench asks about nothing" : ""
  return (
    <label className="mode" title={`${descriptions[mode]}${contract}`}>
      <span className="for-readers">Mode</span>
      <select value={mode} onChange={(event) => void change(event.target.value as ApprovalMode)}>
        {approvalModes.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      {problem !== undefined && (
        <span className="problem" role="alert">
          {problem}
        </span>
      )}
    </label>
  )
}
