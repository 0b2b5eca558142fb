import { useState } from "react"

import type { WorkspaceApi } from "../../api.ts"
import { callsText } from "../../calls/describe-call.ts"
import { messageOf } from "../../hooks/use-load.ts"
import { Problem } from "../../parts.tsx"
import type { Replay } from "../../wire.ts"

/** Makes the calls of a run again on a copy of the workspace, and shows what was different. */
export const ReplayRun = ({ api, run }: { readonly api: WorkspaceApi; readonly run: string }) => {
  const [replay, setReplay] = useState<Replay>()
  const [isBusy, setIsBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const start = async (): Promise<void> => {
    setIsBusy(true)
    setProblem(undefined)
    try {
      setReplay(await api.replay(run))
    } catch (error) {
      setProblem(messageOf(error))
    } finally {
      setIsBusy(false)
    }
  }
  return (
    <section aria-label="Replay">
      <button type="button" disabled={isBusy} onClick={() => void start()}>
        {isBusy ? "Replaying…" : "Replay on a copy"}
      </button>
      <Problem>{problem}</Problem>
      {replay !== undefined && <ReplayResult replay={replay} />}
    </section>
  )
}

const ReplayResult = ({ replay: { calls, files, whyNotBefore } }: { readonly replay: Replay }) => {
  const count = (outcome: Replay["calls"][number]["outcome"]): number =>
    calls.filter((call) => call.outcome === outcome).length
  return (
    <>
      <p role="status">
        {callsText(calls.length)}: {count("same")} with the same reply, {count("different")} with another,{" "}
        {count("skipped")} skipped.{" "}
        {files.length === 0
          ? "All files are as the run left them."
          : `${files.length} files are not as the run left them.`}
      </p>
      {whyNotBefore !== undefined && <p className="quiet">It began with the workspace as it is now: {whyNotBefore}</p>}
      <ul className="paths">
        {calls
          .filter(({ outcome }) => outcome !== "same")
          .map(({ step, tool, outcome, differences, whySkipped }) => (
            <li key={step}>
              {tool} (step {step}): {outcome === "skipped" ? `skipped, ${whySkipped ?? ""}` : differences.join(", ")}
            </li>
          ))}
        {files.map(({ path, kind }) => (
          <li key={path}>
            {path}: {kind}
          </li>
        ))}
      </ul>
    </>
  )
}
