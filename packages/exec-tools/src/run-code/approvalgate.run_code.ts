import { toolError } from "@haft/core"
import { approvalgate } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { requireCommit } from "../run-command/changes-report.ts"
import { quarantinedField, quarantinedMark, showQuarantined } from "../run-command/quarantine-report.ts"
import { sandboxField, sandboxMark, sandboxRemark, showSandbox } from "../run-command/sandbox-mark.ts"
import { codeAsCommand, runCode } from "./run-code.ts"

export const approvalgateRunCode = approvalgate.tool({
  name: "run_code",
  operation: "run-code",
  description: "Run Python or bash code in the sandbox, without network.",
  input: z.strictObject({
    language: z.enum(["python", "bash"]).describe("What the code is written in"),
    code: z.string().describe("The program"),
    args: z.array(z.string()).default([]).describe("Command-line arguments"),
    env: z.record(z.string(), z.string()).default({}).describe("Environment variables"),
    timeout: z.number().positive().default(60).describe("Seconds before the program is ended")
  }),
  output: z.object({
    stdout: z.string(),
    stderr: z.string(),
    exitCode: z.number().int(),
    duration: z.number().describe("Milliseconds"),
    sandbox: sandboxField,
    quarantined: quarantinedField
  }),
  risk: "dangerous",
  asks: false,
  touches: (request) => ({ runs: codeAsCommand(request) }),
  execute: Effect.fnUntraced(function* ({ language, code, args, env, timeout }) {
    const outcome = yield* runCode({ language, code, args, env, timeoutMs: Math.ceil(timeout * 1000) })
    const output = {
      stdout: outcome.stdout.text,
      stderr: outcome.stderr.text,
      duration: outcome.durationMs,
      ...sandboxMark(outcome),
      ...quarantinedMark(outcome)
    }
    yield* requireCommit(outcome, { ...output, exitCode: outcome.exitCode })
    if (outcome.timedOut) {
      return yield* toolError("timeout", `the code took longer than ${timeout} s and was ended`, {
        suggestion: `Give it more time, or let it do less.${sandboxRemark(outcome)}`,
        details: output
      })
    }
    return { ...output, exitCode: outcome.exitCode }
  }),
  render: ({ stdout, stderr, sandbox, quarantined }) =>
    stdout + stderr + showSandbox(sandbox) + showQuarantined(quarantined)
})
