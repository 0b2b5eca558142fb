import { expect, it } from "vitest"

import type { JournalEvent } from "../wire.ts"
import { logOf } from "./call-log.ts"
import { connectionsByHost } from "./connections.ts"

let seq = 0
const event = (type: string, host: string, more: object = {}): JournalEvent => ({
  type,
  seq: ++seq,
  at: new Date(0).toISOString(),
  step: 1,
  request_id: "call-1",
  tool: "run_command",
  host,
  port: 443,
  ...more
})

const events = [
  event("connection_opened", "a.test", { by: "network.allow *.test" }),
  event("connection_opened", "a.test", { by: "person alice" }),
  event("connection_closed", "a.test", { bytes_sent: 10, bytes_received: 200 }),
  event("connection_refused", "b.test", { reason: "network.allow does not list b.test:443" }),
  event("connection_refused", "b.test", { reason: "network.allow does not list b.test:443", repeated: 2 }),
  event("connection_opened", "c.test", { by: "rule c" }),
  event("connection_closed", "c.test", { bytes_sent: 1, bytes_received: 1000 })
]

it("sums connections up by host, refused ones first", () => {
  const nothing = { opened: 0, open: 0, refused: 0, bytesSent: 0, bytesReceived: 0, allowedBy: [], reasons: [] }
  expect(connectionsByHost(events)).toEqual([
    { ...nothing, host: "b.test", port: 443, refused: 3, reasons: ["network.allow does not list b.test:443"] },
    { ...nothing, host: "c.test", port: 443, opened: 1, bytesSent: 1, bytesReceived: 1000, allowedBy: ["rule c"] },
    {
      ...nothing,
      host: "a.test",
      port: 443,
      opened: 2,
      open: 1,
      bytesSent: 10,
      bytesReceived: 200,
      allowedBy: ["network.allow *.test", "person alice"]
    }
  ])
})

it("counts an event once that comes from the record and from the live stream", () => {
  const [call] = logOf("run", [...events, ...events]).calls
  expect(call?.connections).toEqual(events)
})
