import { useCallback, useState } from "react"

import type { WorkspaceApi } from "../api.ts"
import { type CallLog, logOf } from "../calls/call-log.ts"
import { type Loaded, useLoad } from "./use-load.ts"

/** The calls of the run that is chosen: of this one as they happen, of an older one from the record. */
export const useRun = (
  api: WorkspaceApi,
  current: string,
  live: CallLog,
  /** The run of a call that the address leads to. */
  linked?: string
): { readonly chosen: string; readonly choose: (run: string) => void; readonly log: Loaded<CallLog> } => {
  const [chosen, choose] = useState(linked ?? current)
  const [followed, setFollowed] = useState(linked)
  if (linked !== undefined && linked !== followed) {
    setFollowed(linked)
    choose(linked)
  }
  const isLive = chosen === current
  const load = useCallback(
    async () => (isLive ? undefined : logOf(chosen, (await api.events(chosen)).events)),
    [api, chosen, isLive]
  )
  const { loaded } = useLoad(load)
  return { chosen, choose, log: logIn(loaded, isLive ? live : undefined) }
}

const logIn = (loaded: Loaded<CallLog | undefined>, live: CallLog | undefined): Loaded<CallLog> => {
  if (live !== undefined) return { state: "ready", value: live }
  if (loaded.state !== "ready") return loaded
  return loaded.value === undefined ? { state: "loading" } : { state: "ready", value: loaded.value }
}
