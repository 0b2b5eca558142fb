import { toolrouter } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { requireCommit } from "./changes-report.ts"
import { quarantineRemark } from "./quarantine-report.ts"
import { commandTouches, runCommand, shellWords } from "./run-command.ts"

export const toolrouterShell = toolrouter.tool({
  name: "shell",
  operation: "run-command",
  description: "Run a shell command. Long output is cut in the middle; a command that takes too long is ended.",
  input: z.strictObject({
    command: z.string().describe("Shell command to run"),
    workdir: z.string().nullable().default(null).describe("Directory to run in; the workspace when null"),
    timeout_ms: z.number().int().min(1).default(60_000).describe("Milliseconds before the command is ended")
  }),
  output: z.object({
    stdout: z.string(),
    stderr: z.string(),
    returncode: z.number().int(),
    stdout_truncated: z.boolean(),
    stderr_truncated: z.boolean(),
    timeout: z.boolean(),
    message: z.string().nullable()
  }),
  risk: "dangerous",
  touches: ({ command, workdir }) => commandTouches({ runs: command, reads: [workdir ?? "."] }, { mayOverlay: true }),
  execute: Effect.fnUntraced(function* ({ command, workdir, timeout_ms }) {
    const outcome = yield* runCommand({
      command,
      words: shellWords(command),
      line: command,
      directory: workdir ?? ".",
      timeoutMs: timeout_ms
    })
    const moved = quarantineRemark(outcome)
    const remarks = [
      ...(outcome.timedOut ? [`the command took longer than ${timeout_ms} ms and was ended`] : []),
      ...(outcome.sandbox.isolated ? [] : ["it ran without a sandbox"]),
      ...(moved === undefined ? [] : [moved])
    ]
    const output = {
      stdout: outcome.stdout.text,
      stderr: outcome.stderr.text,
      returncode: outcome.timedOut ? -1 : outcome.exitCode,
      stdout_truncated: outcome.stdout.truncated,
      stderr_truncated: outcome.stderr.truncated,
      timeout: outcome.timedOut,
      message: remarks.length === 0 ? null : remarks.join("; ")
    }
    yield* requireCommit(outcome, output)
    return output
  }),
  render: ({ stdout, stderr, message }) => [stdout, stderr, message ?? ""].filter((part) => part !== "").join("")
})
