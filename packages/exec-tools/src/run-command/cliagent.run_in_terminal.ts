import { toolError } from "@haft/core"
import { cliagent } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { requireCommit } from "./changes-report.ts"
import { quarantinedField, quarantinedMark, quarantineRemark, showQuarantined } from "./quarantine-report.ts"
import { type CommandOutcome, commandTouches, runCommand } from "./run-command.ts"
import { sandboxField, sandboxMark, sandboxRemark, showSandbox } from "./sandbox-mark.ts"

export const cliagentRunInTerminal = cliagent.tool({
  name: "run_in_terminal",
  operation: "run-command",
  description: "Run a command in your default shell, in the working directory.",
  input: z.strictObject({
    command: z.string().regex(/\S/, "must not be empty").describe("Shell command"),
    timeout_seconds: z.number().int().min(1).max(300).default(30).describe("Seconds before the command is ended")
  }),
  output: z.object({
    output: z.string(),
    files_affected: z.array(z.string()),
    metadata: z.object({
      exit_code: z.number(),
      stdout_lines: z.number(),
      stderr_lines: z.number(),
      sandbox: sandboxField,
      quarantined: quarantinedField
    })
  }),
  risk: "dangerous",
  touches: ({ command }) => commandTouches({ runs: command }, { mayOverlay: true }),
  execute: ({ command, timeout_seconds }) =>
    runCommand({ command, words: defaultShell(command), line: command, timeoutMs: timeout_seconds * 1000 }).pipe(
      Effect.flatMap((outcome) => report(outcome, timeout_seconds))
    ),
  render: ({ output, metadata }) => output + showSandbox(metadata.sandbox) + showQuarantined(metadata.quarantined),
  wording: {
    command_not_found: ({ details }) => `Command '${String(details?.["program"])}' not found`,
    timeout: (_error, { timeout_seconds }) => `Command timed out after ${timeout_seconds} seconds`
  }
})

// Users that nobody logs in as have a shell that runs nothing. What the space is for: see `shellWords`.
const defaultShell = (command: string): ReadonlyArray<string> => [
  "sh",
  "-c",
  `shell=$SHELL; case $shell in *sh) ;; *) shell=sh ;; esac; command -v "$shell" >/dev/null || shell=sh; exec "$shell" -c " $1"`,
  "sh",
  command
]

const report = Effect.fnUntraced(function* (outcome: CommandOutcome, seconds: number) {
  const { exitCode, stdout, stderr } = outcome
  const metadata = {
    exit_code: exitCode,
    stdout_lines: stdout.totalLines,
    stderr_lines: stderr.totalLines,
    ...sandboxMark(outcome),
    ...quarantinedMark(outcome)
  }
  // The contract has no facts on a failure; that nothing held the command back is told all the same.
  const isPlain = outcome.sandbox.isolated && quarantineRemark(outcome) === undefined
  const marked = isPlain ? {} : { output: { metadata } }
  yield* requireCommit(outcome, { output: stdout.text, metadata })
  if (outcome.timedOut) {
    return yield* toolError("timeout", `the command took longer than ${seconds} s and was ended`, {
      suggestion: `Give it more time, or let it do less.${sandboxRemark(outcome)}`,
      ...marked
    })
  }
  if (outcome.notFound !== undefined) {
    return yield* toolError("command_not_found", `there is no program '${outcome.notFound}'`, {
      suggestion: `Check the spelling, or install it.${sandboxRemark(outcome)}`,
      details: { program: outcome.notFound },
      ...marked
    })
  }
  if (exitCode !== 0) {
    return yield* toolError(
      "command_failed",
      `Command failed with exit code ${exitCode}:\n${stderr.text || stdout.text}`,
      {
        suggestion: `Read what it printed, correct the cause and run it again.${sandboxRemark(outcome)}`,
        ...marked
      }
    )
  }
  const newline = stdout.text === "" || stdout.text.endsWith("\n") ? "" : "\n"
  return {
    output: `Command output:\n${stdout.text}${newline}`,
    files_affected: [],
    metadata
  }
})
