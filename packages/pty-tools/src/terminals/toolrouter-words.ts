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
  sandbox: z.string().optional().describe("`none` where the command runs without a sandbox")
})

export const plainWire = Effect.fnUntraced(function* (report: TerminalReport) {
  const sandbox = yield* Sandbox
  const { kind, isolated } = yield* sandbox.describe
  return {
    output: stripVTControlCharacters(report.output).replaceAll("\r\n", "\n"),
    truncated: report.truncated,
    exit_code: report.exitCode ?? signalCode(report.signal),
    ...(!isolated && { sandbox: kind })
  }
})

/** The same for people. */
export const showPlain = ({ output, sandbox }: z.output<typeof plainOutput>): string =>
  sandbox === undefined ? output : `${output}\n[runs without a sandbox]\n`

/** As a shell reports it: 128 and the signal's number. */
const signalCode = (signal: string | null): number | null =>
  signal === null ? null : 128 + (constants.signals[signal as NodeJS.Signals] ?? 0)

/** Bytes a reply carries at most. */
export const plainBytes = 100_000
