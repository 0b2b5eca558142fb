import { useCallback, useEffect, useState } from "react"

import type { WorkspaceApi } from "./api.ts"
import type { OpenRequest } from "./wire.ts"

/** The requests that wait for a person, oldest first; read again whenever there is news of them. */
export const useApprovals = (
  api: WorkspaceApi,
  news: number
): { readonly requests: ReadonlyArray<OpenRequest>; readonly reload: () => Promise<void> } => {
  const [requests, setRequests] = useState<ReadonlyArray<OpenRequest>>([])
  const reload = useCallback(async () => {
    const open = await api.approvals().catch(() => undefined)
    if (open !== undefined) setRequests((before) => (isSame(before, open) ? before : open))
  }, [api])
  useEffect(() => void reload(), [reload, news])
  return { requests, reload }
}

const isSame = (one: ReadonlyArray<OpenRequest>, other: ReadonlyArray<OpenRequest>): boolean =>
  one.length === other.length && one.every(({ id }, index) => id === other[index]?.id)
