import { Buffer } from "node:buffer"
import { randomBytes } from "node:crypto"

import type { TerminalReport } from "@haft/pty-tools/operations"
import * as z from "zod"

const bytesPerToken = 4
const usualTokens = 10_000

export const maxOutputTokens = z
  .number()
  .optional()
  .describe(`Tokens of output at most, four bytes each; ${usualTokens} when absent`)

export const commandOutput = z.object({
  chunk_id: z.string().optional(),
  wall_time_seconds: z.number(),
  exit_code: z.number().optional(),
  session_id: z.number().optional(),
  original_token_count: z.number().optional(),
  output: z.string()
})

export const bytesFor = (tokens: number | undefined): number =>
  Math.max(1, Math.min(1_000_000, Math.floor(tokens ?? usualTokens))) * bytesPerToken

/** Output of a session since the last reply, and its state. */
export const outputOf = (report: TerminalReport, seconds: number): z.output<typeof commandOutput> => {
  const text = report.output.replaceAll("\r\n", "\n")
  return {
    chunk_id: randomBytes(3).toString("hex"),
    wall_time_seconds: seconds,
    ...(report.isRunning ? { session_id: Number(report.terminal.id) } : { exit_code: report.exitCode ?? -1 }),
    original_token_count: Math.ceil((Buffer.byteLength(text) + report.omittedBytes) / bytesPerToken),
    output: text
  }
}

export const showOutput = (answer: z.output<typeof commandOutput>): string =>
  [
    `Chunk ID: ${answer.chunk_id}`,
    `Wall time: ${answer.wall_time_seconds.toFixed(4)} seconds`,
    ...(answer.exit_code === undefined ? [] : [`Process exited with code ${answer.exit_code}`]),
    ...(answer.session_id === undefined ? [] : [`Process running with session ID ${answer.session_id}`]),
    `Original token count: ${answer.original_token_count}`,
    "Output:",
    answer.output
  ].join("\n")
