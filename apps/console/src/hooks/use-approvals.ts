import { useEffect } from "react"

import type { WorkspaceApi } from "../api.ts"
import type { OpenRequest } from "../wire.ts"
import { type Loaded, useLoad } from "./use-load.ts"

/** The requests that wait for a person, oldest first; loaded again whenever `news` changes. */
export const useApprovals = (
  api: WorkspaceApi,
  news: number
): {
  readonly requests: ReadonlyArray<OpenRequest>
  readonly loaded: Loaded<unknown>
  readonly reload: () => void
} => {
  const { loaded, reload } = useLoad(api.approvals)
  useEffect(() => reload(), [reload, news])
  return { requests: loaded.state === "ready" ? loaded.value : none, loaded, reload }
}

const none: ReadonlyArray<OpenRequest> = []
