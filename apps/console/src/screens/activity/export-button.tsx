import { useState } from "react"

import type { WorkspaceApi } from "../../api.ts"
import { messageOf } from "../../hooks/use-load.ts"
import { Problem } from "../../parts.tsx"

/** Saves the record of a run as a file: JSON, an event a line. */
export const ExportButton = ({ api, run }: { readonly api: WorkspaceApi; readonly run: string }) => {
  const [problem, setProblem] = useState<string>()
  const save = async (): Promise<void> => {
    setProblem(undefined)
    try {
      const address = URL.createObjectURL(await api.exportRun(run))
      const link = document.createElement("a")
      link.href = address
      link.download = `haft-${run}.jsonl`
      link.click()
      URL.revokeObjectURL(address)
    } catch (error) {
      setProblem(messageOf(error))
    }
  }
  return (
    <>
      <button type="button" onClick={() => void save()}>
        Export
      </button>
      <Problem>{problem}</Problem>
    </>
  )
}
