import { useCallback, useEffect, useState } from "react"

import type { WorkspaceApi } from "./api.ts"
import type { CallLog } from "./call-log.ts"
import type { OpenRequest } from "./wire.ts"

/** A question is asked a moment after its call begins, so the list is read then, and now and again in between. */
const afterEventMs = 80
const betweenMs = 2_000

/** The requests that wait for a person, oldest first. */
export const useApprovals = (
  api: WorkspaceApi,
  log: CallLog
): { readonly requests: ReadonlyArray<OpenRequest>; readonly reload: () => Promise<void> } => {
  const [requests, setRequests] = useState<ReadonlyArray<OpenRequest>>([])
  const reload = useCallback(async () => {
    const open = await api.approvals().catch(() => undefined)
    if (open !== undefined) setRequests((before) => (isSame(before, open) ? before : open))
  }, [api])

  useEffect(() => {
    const timer = window.setInterval(() => void reload(), betweenMs)
    return () => window.clearInterval(timer)
  }, [reload])

  useEffect(() => {
    const timer = window.setTimeout(() => void reload(), afterEventMs)
    return () => window.clearTimeout(timer)
  }, [reload, log])

  return { requests, reload }
}

const isSame = (one: ReadonlyArray<OpenRequest>, other: ReadonlyArray<OpenRequest>): boolean =>
  one.length === other.length && one.every(({ id }, index) => id === other[index]?.id)
