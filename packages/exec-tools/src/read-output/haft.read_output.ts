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
import { readOutput } from "./read-output.ts"

export const haftReadOutput = haft.tool({
  name: "read_output",
  profile: "coding",
  operation: "read-output",
  description: "Read what a process printed since the last reply, or other parts.",
  input: z.strictObject({
    process_id: processId,
    cursor: z.number().int().min(0).optional().describe("Byte to start at, from an earlier reply"),
    tail_lines: z.number().int().min(1).max(10_000).optional().describe("Only the last lines"),
    search: z.string().min(1).max(1000).optional().describe("Only lines that match this regex"),
    max_bytes: maxBytes
  }),
  output: z.object({ ...processFields, ...outputFields }),
  risk: "read_only",
  execute: ({ process_id, cursor, tail_lines, search, max_bytes }) =>
    Effect.map(
      readOutput(process_id, { cursor, tailLines: tail_lines, search, maxBytes: max_bytes }),
      ({ managed, ...read }) => ({ ...processWire(managed), ...outputWire(read) })
    ),
  render: showProcess
})
