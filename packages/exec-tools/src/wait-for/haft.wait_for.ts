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
import { waitFor } from "./wait-for.ts"

export const haftWaitFor = haft.tool({
  name: "wait_for",
  profile: "coding",
  operation: "wait-for",
  description: "Wait until a process ends, or until the first of the given conditions.",
  input: z.strictObject({
    process_id: processId,
    pattern: z.string().min(1).max(1000).optional().describe("Regex for a line of output"),
    from: z.number().int().min(0).default(0).describe("Byte to match from"),
    port: z.number().int().min(1).max(65_535).optional().describe("TCP port it listens on"),
    quiet_ms: z.number().int().min(1).max(600_000).optional().describe("No output for this long"),
    timeout_ms: z.number().int().min(1).max(3_600_000).default(30_000).describe("Time limit"),
    max_bytes: maxBytes
  }),
  output: z.object({
    reason: z.enum(["pattern", "port", "quiet", "exit", "timeout"]).describe("Why the wait is over"),
    matched: z.string().optional().describe("The line that matched"),
    ...processFields,
    ...outputFields
  }),
  examples: [
    { process_id: "process_1", port: 3000 },
    { process_id: "process_1", pattern: "listening on", timeout_ms: 60_000 }
  ],
  risk: "read_only",
  execute: ({ process_id, pattern, from, port, quiet_ms, timeout_ms, max_bytes }) =>
    Effect.map(
      waitFor(process_id, { pattern, from, port, quietMs: quiet_ms, timeoutMs: timeout_ms }, { maxBytes: max_bytes }),
      ({ managed, reason, matched, ...read }) => ({
        reason,
        ...(matched !== undefined && { matched }),
        ...processWire(managed),
        ...outputWire(read)
      })
    ),
  render: (shown) => `${showProcess(shown)}\n[the wait is over: ${shown.reason}]`
})
