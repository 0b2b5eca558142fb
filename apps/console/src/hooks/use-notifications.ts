import { useEffect, useRef, useState } from "react"

import { requestKey, requestSubject } from "../calls/describe-call.ts"
import { addressOf, goTo } from "../route.ts"
import type { OpenRequest } from "../wire.ts"

export type NotificationState = "unavailable" | "off" | "on" | "refused"

/** Tells the person about a request of any workspace that arrives while they look elsewhere. */
export const useNotifications = (
  requests: ReadonlyArray<OpenRequest>
): { readonly state: NotificationState; readonly turnOn: () => void } => {
  const [permission, setPermission] = useState(() => ("Notification" in window ? Notification.permission : "none"))
  const known = useRef(new Set<string>())
  useEffect(() => {
    const fresh = requests.filter(({ id }) => !known.current.has(id))
    known.current = new Set(requests.map(({ id }) => id))
    if (permission !== "granted" || document.hasFocus()) return
    for (const request of fresh) notify(request)
  }, [requests, permission])
  const states: Readonly<Record<string, NotificationState>> = { granted: "on", denied: "refused", default: "off" }
  return {
    state: states[permission] ?? "unavailable",
    turnOn: () => void Notification.requestPermission().then(setPermission)
  }
}

const notify = (request: OpenRequest): void => {
  try {
    // The tag makes two open consoles show one notification.
    const notification = new Notification(`${request.workspace}: ${request.tool} waits for approval`, {
      body: requestSubject(request),
      tag: request.id
    })
    notification.addEventListener("click", () => {
      window.focus()
      goTo(addressOf(request.workspace, "approvals", requestKey(request)))
      notification.close()
    })
  } catch {
    // Chrome on Android has the constructor but throws: it wants a service worker. The request is in the list anyway.
  }
}
