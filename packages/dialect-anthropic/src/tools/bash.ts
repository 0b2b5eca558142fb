import { stripVTControlCharacters } from "node:util"

import { makeToolError } from "@haft/core"
import { shell, type ShellOutcome, type ShellRequest, shellTouches } from "@haft/exec-tools/operations"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { anthropic, answer, worded } from "../dialect.ts"

const usualTimeoutMs = 120_000
const longestTimeoutMs = 600_000

const input = z.strictObject({
  command: z.string().optional().describe("Command line for bash"),
  restart: z.boolean().optional().describe("End the shell first, with its directory, variables and functions"),
  timeout_ms: z.int().optional().describe(`Milliseconds; ${usualTimeoutMs} when absent, ${longestTimeoutMs} at most`)
})

type Call = z.output<typeof input>

export const bash = anthropic.tool({
  name: "bash",
  operation: "shell",
  description:
    "Run a command in a bash that stays open between calls, in the sandbox. What it printed is the answer, as an error " +
    "where its exit code is not 0.",
  input,
  output: answer,
  risk: "dangerous",
  // Restarting an own shell needs no consent.
  asks: ({ runs }) => runs !== undefined,
  timeout: (call) => Duration.millis(timeoutOf(call) + 30_000),
  touches: (call) => shellTouches(requestOf(call)),
  execute: Effect.fnUntraced(function* (call) {
    if (!hasCommand(call) && call.restart !== true) return yield* worded("invalid_params", "bash: command is required")
    const outcome = yield* shell(requestOf(call))
    return hasCommand(call) ? yield* answerOf(outcome) : { output: "bash session restarted" }
  }),
  render: ({ output }) => output
})

const hasCommand = ({ command = "" }: Call): boolean => command !== ""

const timeoutOf = ({ timeout_ms = usualTimeoutMs }: Call): number => Math.min(longestTimeoutMs, Math.max(1, timeout_ms))

/** Request to the persistent shell, one object per call: by its identity the shell finds what the touches declared. */
const requestOf = (call: Call): ShellRequest => ({
  call,
  session: "default",
  command: hasCommand(call) ? call.command : undefined,
  restart: call.restart ?? false,
  timeoutMs: timeoutOf(call)
})

const answerOf = (outcome: ShellOutcome) => {
  const { exitCode, timedOut, timeoutMs, isOver } = outcome
  // An interactive shell that ends says so.
  const stderr = isOver ? outcome.stderr.text.replace(/(^|\n)exit\n*$/, "$1") : outcome.stderr.text
  const output = [outcome.stdout.text, stderr]
    .map((text) => stripVTControlCharacters(text).replace(/\n+$/, ""))
    .filter((text) => text !== "")
    .join("\n")
  const failed = (code: "timeout" | "command_failed", words: string) =>
    makeToolError(code, [words, output].filter((text) => text !== "").join("\n"), {
      details: { worded: true },
      output: { output }
    })
  if (timedOut) return Effect.fail(failed("timeout", `bash: bash command timed out after ${timeoutMs}ms`))
  if (isOver) return Effect.fail(failed("command_failed", "bash: bash session terminated"))
  if (exitCode === 0) return Effect.succeed({ output })
  return Effect.fail(failed("command_failed", output === "" ? `exit ${exitCode}` : ""))
}
