import type { Telemetry } from "haft/internal"

import type { FlowControl } from "./http/flow-control.ts"
import type { WebhookEvents } from "./notify/webhook.ts"
import type { Workspaces } from "./workspaces.ts"

/** Counts a request that was answered. Requests for files of the console have no route. */
export type CountRequest = (route: string | undefined, status: number, milliseconds: number) => void

/** Registers the server's own metrics, beside those of its workspaces. */
export const measureServer = (
  { counter, durations, gauge }: Telemetry,
  workspaces: Workspaces,
  flow: FlowControl
): CountRequest => {
  gauge({ id: "haft.calls.in_flight", description: "Calls that are being worked on" }, flow.inFlight)
  gauge({ id: "process.resident_memory", description: "Memory of the server", unit: "bytes" }, () =>
    process.memoryUsage.rss()
  )
  workspaces.onOpened((workspace, { approvals }) => {
    const instrument = { id: "haft.approvals.open", description: "Questions that wait for a person" }
    gauge({ ...instrument, labels: { workspace } }, () => approvals.open().length)
  })
  const requests = counter({ id: "haft.http.requests", description: "Requests that were answered" })
  const latency = durations({ id: "haft.http.request.duration", description: "Duration of requests" })
  return (path, status, milliseconds) => {
    const route = path ?? "console"
    requests({ route, status: String(status) }, 1)
    latency({ route }, milliseconds / 1000)
  }
}

/** Counts the messages of a webhook, and reports those that were given up. */
export const webhookEvents = ({ counter }: Telemetry, onDefect: (error: unknown) => void): WebhookEvents => {
  const messages = counter({ id: "haft.webhook.messages", description: "Messages of the webhook" })
  return {
    onDelivered: () => messages({ outcome: "delivered" }, 1),
    onFailed: (error) => {
      messages({ outcome: "failed" }, 1)
      onDefect(error)
    }
  }
}
