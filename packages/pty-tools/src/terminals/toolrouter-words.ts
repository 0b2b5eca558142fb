import { constants } from "node:os"
import { stripVTControlCharacters } from "node:util"

import { Sandbox } from "@haft/core"
import * as Effect from "effect/Effect"
import * as z from "zod"

import type { TerminalReport } from "./report.ts"

/** The contract's answer to both of its terminal tools: text without escape sequences, and how the program is. */
export const plainOutput = z.object({
  output: z.string(),
  truncated: z.boolean(),
  exit_code: z.number().nullable(),
  sandbox: z.string().optional().describe("`none` where the command runs without a sandbox"),
  quarantined: z
    .array(z.string())
    .optional()
    .describe("Control files that its programs made or changed, once it has ended; moved out of the workspace")
})

export const plainWire = Effect.fnUntraced(function* (report: TerminalReport) {
  const sandbox = yield* Sandbox
  const { kind, isolated } = yield* sandbox.describe
  const moved = report.terminal.controlFiles.filter(({ quarantine }) => quarantine !== undefined)
  return {
    output: stripVTControlCharacters(report.output).replaceAll("\r\n", "\n"),
    truncated: report.truncated,
    exit_code: report.exitCode ?? signalCode(report.signal),
    ...(!isolated && { sandbox: kind }),
    ...(moved.length > 0 && { quarantined: moved.slice(0, mostListed).map(({ path }) => path) })
  }
})

/** Result of a terminal tool, formatted for people. */
export const showPlain = ({ output, sandbox, quarantined }: z.output<typeof plainOutput>): string => {
  const remarks = [
    ...(sandbox === undefined ? [] : ["runs without a sandbox"]),
    ...(quarantined === undefined ? [] : [`control files were moved out of the workspace: ${quarantined.join(", ")}`])
  ]
  return [output, ...remarks.map((remark) => `\n[${remark}]\n`)].join("")
}

/** Control files that a reply names; the audit log has them all. */
const mostListed = 20

/** As a shell reports it: 128 and the signal's number. */
const signalCode = (signal: string | null): number | null =>
  signal === null ? null : 128 + (constants.signals[signal as NodeJS.Signals] ?? 0)

/** Bytes a reply carries at most. */
export const plainBytes = 100_000
