import { constants } from "node:os"
import { stripVTControlCharacters } from "node:util"

import * as z from "zod"

import type { TerminalReport } from "./report.ts"

/** The contract's answer to both of its terminal tools: text without escape sequences, and how the program is. */
export const plainOutput = z.object({ output: z.string(), truncated: z.boolean(), exit_code: z.number().nullable() })

export const plainWire = (report: TerminalReport): z.output<typeof plainOutput> => ({
  output: stripVTControlCharacters(report.output).replaceAll("\r\n", "\n"),
  truncated: report.truncated,
  exit_code: report.exitCode ?? signalCode(report.signal)
})

/** As a shell reports it: 128 and the signal's number. */
const signalCode = (signal: string | null): number | null =>
  signal === null ? null : 128 + (constants.signals[signal as NodeJS.Signals] ?? 0)

/** Bytes a reply carries at most. */
export const plainBytes = 100_000
