import { clipText } from "@haft/core"
import { type CommandOutcome, commandTouches, runCommand, shellWords } from "@haft/exec-tools/operations"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { openai } from "../dialect.ts"

const usualTimeoutMs = 120_000
const longestTimeoutMs = 600_000

const input = z.strictObject({
  commands: z.array(z.string()).min(1).describe("Command lines, run one after the other, each in a shell of its own"),
  timeout_ms: z
    .number()
    .nullish()
    .describe(`Milliseconds for each command; ${usualTimeoutMs} when absent, ${longestTimeoutMs} at most`),
  max_output_length: z.number().nullish().describe("Characters to return at most of each stream of each command")
})

type Call = z.output<typeof input>

const outcome = z.union([
  z.strictObject({ type: z.literal("exit"), exit_code: z.number() }),
  z.strictObject({ type: z.literal("timeout") })
])

export const shell = openai.tool({
  name: "shell",
  operation: "run-command",
  description:
    "Run commands in the sandbox, one after the other. Each has an answer: what it printed, and how it ended.",
  input,
  output: z.object({
    output: z.array(z.strictObject({ stdout: z.string(), stderr: z.string(), outcome })),
    max_output_length: z.number().optional()
  }),
  risk: "dangerous",
  timeout: (call) => Duration.millis((timeoutOf(call) + 10_000) * call.commands.length + 30_000),
  touches: ({ commands }) => commandTouches({ runs: commands.join("\n"), reads: ["."] }),
  execute: Effect.fnUntraced(function* (call) {
    const { commands, max_output_length: most } = call
    const output = yield* Effect.forEach(commands, (command) =>
      Effect.map(
        runCommand({ command, words: shellWords(`${command}\n`), directory: ".", timeoutMs: timeoutOf(call) }),
        (ended) => answerOf(ended, most ?? Number.POSITIVE_INFINITY)
      )
    )
    return { output, ...(typeof most === "number" && { max_output_length: most }) }
  }),
  render: ({ output }) =>
    output
      .map(({ stdout, stderr, outcome: end }) =>
        [
          stdout.replace(/\n$/, ""),
          stderr.replace(/\n$/, ""),
          ...(end.type === "timeout" ? ["timed out"] : end.exit_code === 0 ? [] : [`exit code ${end.exit_code}`])
        ]
          .filter((part) => part !== "")
          .join("\n")
      )
      .join("\n")
})

const timeoutOf = ({ timeout_ms }: Call): number =>
  Math.min(longestTimeoutMs, Math.max(1, Math.floor(timeout_ms ?? usualTimeoutMs)))

const answerOf = ({ stdout, stderr, timedOut, exitCode }: CommandOutcome, most: number) => ({
  stdout: cut(stdout.text, most),
  stderr: cut(stderr.text, most),
  outcome: timedOut ? ({ type: "timeout" } as const) : ({ type: "exit", exit_code: exitCode } as const)
})

const cut = (text: string, most: number): string =>
  text.length > most ? clipText(text, Math.max(0, Math.floor(most))).text : text
