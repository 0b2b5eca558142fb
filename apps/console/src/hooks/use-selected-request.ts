import { useEffect, useRef, useState } from "react"

import type { OpenRequest } from "../wire.ts"

/** For so long after an answer the next request can't be answered: a second click was meant for the one before. */
const readingMs = 400

export interface SelectedRequest {
  /** The request on screen. It stays when it ends, until the person goes on. */
  readonly selected: OpenRequest | undefined
  /** True for a request that was answered elsewhere, timed out or was canceled. */
  readonly isEnded: boolean
  /** True for a request that the person chose, so that single keys may answer it. One that appeared by itself is only shown. */
  readonly isArmed: boolean
  /** True right after this request replaced another on screen. */
  readonly isFresh: boolean
  readonly select: (request: OpenRequest | undefined) => void
  /** Selects the next or previous request; the one on screen, if nobody chose it yet. */
  readonly move: (by: 1 | -1) => void
  /** Shows the request after the selected one, without arming keys. */
  readonly advance: () => void
}

/** The request that a person looks at. Only the person changes it: what arrives or ends meanwhile does not. */
export const useSelectedRequest = (
  requests: ReadonlyArray<OpenRequest>,
  /** The request that the address leads to. */
  linked?: OpenRequest
): SelectedRequest => {
  const [kept, setKept] = useState<OpenRequest>()
  const [followed, setFollowed] = useState<string>()
  const [isArmed, setIsArmed] = useState(false)
  const [isFresh, setIsFresh] = useState(false)
  const timer = useRef(0)
  useEffect(() => () => window.clearTimeout(timer.current), [])

  if (linked !== undefined && linked.id !== followed) {
    setFollowed(linked.id)
    setKept(linked)
    setIsArmed(false)
  }

  const position = requests.findIndex(({ id }) => id === kept?.id)
  const selected = kept === undefined ? requests[0] : (requests[position] ?? kept)
  if (selected !== kept) setKept(selected)

  const show = (request: OpenRequest | undefined, byPerson: boolean): void => {
    setKept(request)
    setIsArmed(byPerson && request !== undefined)
  }
  return {
    selected,
    isEnded: selected !== undefined && position === -1 && kept !== undefined,
    isArmed: isArmed && position !== -1,
    isFresh,
    select: (request) => show(request, true),
    move: (by) => {
      const stays = position !== -1 && !isArmed
      const next = stays ? position : position === -1 ? 0 : position + by
      const request = requests[Math.min(requests.length - 1, Math.max(0, next))]
      if (request !== undefined) show(request, true)
    },
    advance: () => {
      show(requests[position + 1] ?? requests[position - 1], false)
      setIsFresh(true)
      timer.current = window.setTimeout(setIsFresh, readingMs, false)
    }
  }
}
