import { useCallback, useId } from "react"

import type { WorkspaceApi } from "../../api.ts"
import { useLoad } from "../../hooks/use-load.ts"

interface RunChoiceProps {
  readonly api: WorkspaceApi
  readonly current: string
  readonly chosen: string
  readonly onChange: (run: string) => void
  /** Label of the empty choice, for all runs at once; none when absent. */
  readonly all?: string
}

/** This run, or an older one. */
export const RunChoice = ({ api, current, chosen, onChange, all }: RunChoiceProps) => {
  const load = useCallback(() => api.runs(), [api])
  const { loaded } = useLoad(load)
  const id = useId()
  const older = loaded.state === "ready" ? loaded.value.filter(({ name, bytes }) => name !== current && bytes > 0) : []
  return (
    <span>
      <label htmlFor={id} className="for-readers">
        Run
      </label>
      <select id={id} value={chosen} onChange={(event) => onChange(event.target.value)}>
        {all !== undefined && <option value="">{all}</option>}
        <option value={current}>This run</option>
        {older.toReversed().map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </span>
  )
}
