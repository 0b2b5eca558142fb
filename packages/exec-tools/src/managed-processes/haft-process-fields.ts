import * as z from "zod"

import type { ManagedProcess } from "./managed-process.ts"
import type { OutputRead } from "./output-reading.ts"

export const processId = z.string().min(1).max(100).describe("From start_process")

export const maxBytes = z
  .number()
  .int()
  .min(1000)
  .max(1_000_000)
  .default(20_000)
  .describe("Most output to return: head and tail")

/** How haft's tools describe a process. */
export const processFields = {
  process_id: z.string(),
  state: z.enum(["running", "ended"]),
  exit_code: z.number().int().nullable().describe("Null while it runs, and where a signal ended it"),
  signal: z.string().nullable(),
  failure: z.string().optional().describe("Why it could not run"),
  left_running: z.number().int().optional().describe("Processes it left behind; in a sandbox they ended with it")
}

export const processWire = ({ id, end }: ManagedProcess) => ({
  process_id: id,
  state: end === undefined ? ("running" as const) : ("ended" as const),
  exit_code: end?.exitCode ?? null,
  signal: end?.signal ?? null,
  ...(end?.failure !== undefined && { failure: end.failure }),
  ...(end !== undefined && end.leftRunning > 0 && { left_running: end.leftRunning })
})

export const outputFields = {
  output: z.string().describe("Both streams, in order of arrival"),
  cursor: z.number().int().describe("Where the next reading goes on"),
  truncated: z.boolean(),
  omitted_bytes: z.number().int(),
  output_path: z.string().optional().describe("Artifact with all of it, for read_file and search_text")
}

export const outputWire = ({ output, cursor, truncated, omittedBytes, artifact }: OutputRead) => ({
  output,
  cursor,
  truncated,
  omitted_bytes: omittedBytes,
  ...(artifact !== undefined && { output_path: artifact })
})

/** A process and its output, for people. */
export const showProcess = (
  shown: { readonly output: string } & Pick<
    ReturnType<typeof processWire>,
    "process_id" | "state" | "exit_code" | "signal"
  >
): string => `${shown.output}${shown.output === "" || shown.output.endsWith("\n") ? "" : "\n"}[${stateText(shown)}]`

export const stateText = ({
  process_id,
  state,
  exit_code,
  signal
}: Pick<ReturnType<typeof processWire>, "process_id" | "state" | "exit_code" | "signal">): string =>
  state === "running"
    ? `${process_id} is running`
    : `${process_id} has ended: ${signal ?? (exit_code === null ? "it could not run" : `exit code ${exit_code}`)}`
