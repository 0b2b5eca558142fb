import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import {
  maxBytes,
  outputFields,
  outputWire,
  processFields,
  processId,
  processWire,
  showProcess
} from "../managed-processes/haft-process-fields.ts"
import { stopProcess } from "./stop-process.ts"

export const haftStopProcess = haft.tool({
  name: "stop_process",
  profile: "coding",
  operation: "stop-process",
  description: "End a process and its children; returns unread output.",
  input: z.strictObject({ process_id: processId, max_bytes: maxBytes }),
  output: z.object({ ...processFields, was_running: z.boolean(), ...outputFields }),
  risk: "safe_write",
  // Whoever may start one may stop it.
  asks: false,
  timeout: "60 seconds",
  execute: ({ process_id, max_bytes }) =>
    Effect.map(stopProcess(process_id, { maxBytes: max_bytes }), ({ managed, wasRunning, ...read }) => ({
      ...processWire(managed),
      was_running: wasRunning,
      ...outputWire(read)
    })),
  render: showProcess
})
