import { toolError, withVariables } from "@haft/core"
import { agentbench } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { requireCommit } from "./changes-report.ts"
import { quarantinedField, quarantinedMark, showQuarantined } from "./quarantine-report.ts"
import { runCommand, shellWords } from "./run-command.ts"
import { sandboxField, sandboxMark, sandboxRemark, showSandbox } from "./sandbox-mark.ts"

export const agentbenchRun = agentbench.tool({
  name: "run",
  operation: "run-command",
  description: "Run a shell command in the sandbox. Its output is kept as two files.",
  input: z.strictObject({
    command: z.string().describe("Shell command, run in the workspace"),
    timeout_sec: z.number().int().min(1).nullable().default(null).describe("Seconds; the task's own limit when null"),
    env: z.record(z.string(), z.string()).nullable().default(null).describe("Environment variables to add")
  }),
  output: z.object({
    exit_code: z.number().int().nullable(),
    stdout_path: z.string(),
    stderr_path: z.string(),
    stdout: z.string(),
    stderr: z.string(),
    sandbox: sandboxField,
    quarantined: quarantinedField
  }),
  risk: "dangerous",
  touches: ({ command, env }) => ({ runs: withVariables(command, env ?? {}) }),
  execute: Effect.fnUntraced(function* ({ command, timeout_sec, env }) {
    const outcome = yield* runCommand({
      command,
      words: shellWords(command),
      line: command,
      env: env ?? {},
      timeoutMs: timeout_sec === null ? undefined : timeout_sec * 1000
    })
    const output = {
      exit_code: outcome.timedOut ? null : outcome.exitCode,
      stdout_path: outcome.stdout.path,
      stderr_path: outcome.stderr.path,
      stdout: outcome.stdout.text,
      stderr: outcome.stderr.text,
      ...sandboxMark(outcome),
      ...quarantinedMark(outcome)
    }
    yield* requireCommit(outcome, output)
    if (outcome.timedOut) {
      return yield* toolError("timeout", `the command took longer than ${outcome.timeoutMs / 1000} s and was ended`, {
        suggestion: `Give it more time with timeout_sec, or let it do less.${sandboxRemark(outcome)}`,
        output,
        retryable: true
      })
    }
    if (outcome.exitCode === 0) return output
    return yield* toolError("command_failed", `the command ended with exit code ${outcome.exitCode}`, {
      suggestion: `Read what it printed, correct the cause and run it again.${sandboxRemark(outcome)}`,
      output,
      details: { exit_code: outcome.exitCode, signal: outcome.signal }
    })
  }),
  render: ({ stdout, stderr, sandbox, quarantined }) =>
    stdout + stderr + showSandbox(sandbox) + showQuarantined(quarantined)
})
