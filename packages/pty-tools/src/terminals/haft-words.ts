import * as z from "zod"

import type { TerminalReport } from "./report.ts"

/** Parameters and fields that several of haft's own terminal tools share. */

export const windowSize = z.number().int().min(1).max(1000)

export const yieldTime = z.number().int().min(250).max(30_000).describe("Longest wait for output")

export const quietTime = z.number().int().min(50).max(30_000).describe("Return after this long without output")

export const view = z.enum(["raw", "screen"]).default("raw").describe("Output since the cursor, or the screen now")

export const maxBytes = z
  .number()
  .int()
  .min(1000)
  .max(1_000_000)
  .default(100_000)
  .describe("Most output to return: head and tail")

export const terminalId = z.string().describe("From open_terminal")

export const reportFields = {
  terminal_id: z.string(),
  state: z.enum(["running", "ended"]),
  exit_code: z.number().nullable(),
  signal: z.string().nullable(),
  output: z.string(),
  cursor: z.number(),
  truncated: z.boolean(),
  omitted_bytes: z.number(),
  control_files: z
    .array(z.object({ path: z.string(), reason: z.string(), moved_to: z.string().nullable() }))
    .optional()
    .describe("Control files that its programs made or changed, once it is closed; moved out of the workspace"),
  screen: z.object({ cols: z.number(), rows: z.number(), cursor_row: z.number(), cursor_column: z.number() }).optional()
}

type ReportWire = z.output<z.ZodObject<typeof reportFields>>

export const reportWire = (report: TerminalReport): ReportWire => {
  const { terminal, screen } = report
  return {
    terminal_id: terminal.id,
    state: report.isRunning ? "running" : "ended",
    exit_code: report.exitCode,
    signal: report.signal,
    output: report.output,
    cursor: report.cursor,
    truncated: report.truncated,
    omitted_bytes: report.omittedBytes,
    ...(terminal.controlFiles.length > 0 && {
      control_files: terminal.controlFiles
        .slice(0, 20)
        .map(({ path, reason, quarantine = null }) => ({ path, reason, moved_to: quarantine }))
    }),
    ...(screen !== undefined && {
      screen: {
        cols: screen.cols,
        rows: screen.rows,
        cursor_row: screen.cursorRow,
        cursor_column: screen.cursorColumn
      }
    })
  }
}

export const showReport = ({ terminal_id, state, exit_code, signal, output, control_files }: ReportWire): string => {
  const how = signal === null ? `exit code ${exit_code}` : signal
  const moved = (control_files ?? []).filter(({ moved_to }) => moved_to !== null).map(({ path }) => path)
  const remark = moved.length === 0 ? "" : `; control files were moved out of the workspace: ${moved.join(", ")}`
  const status = state === "running" ? `${terminal_id} is running` : `${terminal_id} has ended: ${how}${remark}`
  return output === "" || output.endsWith("\n") ? `${output}[${status}]` : `${output}\n[${status}]`
}
