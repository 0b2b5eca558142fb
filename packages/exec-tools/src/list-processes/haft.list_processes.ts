import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { processFields, processWire, stateText } from "../managed-processes/haft-process-fields.ts"
import { listProcesses } from "./list-processes.ts"

export const haftListProcesses = haft.tool({
  name: "list_processes",
  profile: "all",
  operation: "list-processes",
  description: "List background processes, ended ones too.",
  input: z.strictObject({}),
  output: z.object({
    processes: z.array(
      z.object({
        ...processFields,
        command: z.string(),
        cwd: z.string(),
        started_at: z.string(),
        unread_bytes: z.number().int()
      })
    )
  }),
  risk: "read_only",
  execute: () =>
    Effect.map(listProcesses, (processes) => ({
      processes: processes.map((managed) => ({
        ...processWire(managed),
        command: managed.command,
        cwd: managed.directory,
        started_at: new Date(managed.startedAt).toISOString(),
        unread_bytes: managed.output.end - managed.delivered
      }))
    })),
  render: ({ processes }) =>
    processes.length === 0
      ? "no processes"
      : processes.map((process) => `${stateText(process)}: ${process.command}`).join("\n")
})
