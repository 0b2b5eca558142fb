import { useEffect, useState } from "react"

import type { WorkspaceApi } from "../api.ts"
import type { OpenRequest } from "../wire.ts"
import { type Loaded, useLoad } from "./use-load.ts"

/**
 * The requests that wait for a person, oldest first; loaded again whenever `news` changes. Where that fails the last
 * known ones stay: a request that could not be loaded has not ended.
 */
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
  const [requests, setRequests] = useState(none)
  if (loaded.state === "ready" && loaded.value !== requests) setRequests(loaded.value)
  return { requests, loaded, reload }
}

const none: ReadonlyArray<OpenRequest> = []
