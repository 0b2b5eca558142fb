import type { JournalEvent } from "@haft/core"
import type * as Context from "effect/Context"

import { counter, durations } from "./instruments.ts"

/** Counts calls, decisions and connections of a workspace as they are recorded. */
export const countEvents = (context: Context.Context<never>): ((event: JournalEvent) => void) => {
  const calls = counter({ id: "haft.calls", description: "Calls that ended" }, context)
  const latency = durations(
    { id: "haft.call.duration", description: "Duration of calls, without the time they waited for a person" },
    context
  )
  const approvals = counter({ id: "haft.approvals", description: "Questions to people, by their outcome" }, context)
  const effects = counter(
    { id: "haft.overlay.commits", description: "Overlays of commands, by the outcome of their changes" },
    context
  )
  const connections = counter({ id: "haft.connections", description: "Connections of commands that ended" }, context)
  const traffic = counter(
    { id: "haft.connection.traffic", description: "Traffic of connections of commands", unit: "bytes" },
    context
  )

  const countCall = ({ tool, status, error, duration_sec, waited_sec }: JournalEvent): void => {
    // Names of tools that don't exist are made up by callers: each would add a series, without end.
    const name = error === "unknown_tool" ? "unknown" : textOf(tool)
    calls({ tool: name, status: textOf(status) }, 1)
    latency({ tool: name }, Math.max(0, Number(duration_sec ?? 0) - Number(waited_sec ?? 0)))
  }
  return (event) => {
    if (event.type === "tool_call_finished") countCall(event)
    else if (event.type === "approval_decided") approvals({ decision: textOf(event["decision"]) }, 1)
    else if (event.type === "command_effects") effects({ outcome: textOf(event["outcome"]) }, 1)
    else if (event.type === "connection_refused") connections({ outcome: "refused" }, Number(event["repeated"] ?? 1))
    else if (event.type === "connection_closed") {
      connections({ outcome: "closed" }, 1)
      traffic({ direction: "sent" }, Number(event["bytes_sent"] ?? 0))
      traffic({ direction: "received" }, Number(event["bytes_received"] ?? 0))
    }
  }
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "unknown")
