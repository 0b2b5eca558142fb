import { withInput, withVariables } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { commandResult, requireEnd, showResult } from "./command-result.ts"
import { asksBeforehand, commandLineFor, commandTouches, runCommand, shellWords } from "./run-command.ts"

export const haftRunCommand = haft.tool({
  name: "run_command",
  operation: "run-command",
  description:
    "Run a shell command in the sandbox and wait for it. Its standard input is closed unless stdin is given. " +
    "A non-zero exit code is a result, not an error. For programs that go on running, open a terminal.",
  input: z.strictObject({
    command: z.string().min(1).describe(commandLineFor),
    cwd: z.string().default(".").describe("Directory to run in, relative to the workspace"),
    env: z.record(z.string(), z.string()).default({}).describe("Environment variables to add"),
    stdin: z.string().optional().describe("Text for standard input"),
    timeout_ms: z.number().int().min(1).max(86_400_000).optional().describe("The host's own limit when absent"),
    network: z.boolean().default(false).describe("Ask for the network; refused where the host does not allow it"),
    on_failure: z
      .enum(["commit", "drop"])
      .default("commit")
      .describe("What becomes of the changes where it fails, takes too long or is cancelled; drop needs an overlay"),
    read_only: z.boolean().default(false).describe("Run with a workspace that can't be changed")
  }),
  output: commandResult,
  risk: "dangerous",
  asks: asksBeforehand,
  touches: ({ command, cwd, env, stdin, network, read_only: readOnly }) =>
    commandTouches(
      { runs: withInput(withVariables(command, env), stdin), network, reads: [cwd] },
      { readOnly, mayOverlay: true }
    ),
  execute: ({ command, cwd, env, stdin, timeout_ms, network, on_failure, read_only }) =>
    runCommand({
      command,
      words: shellWords(command),
      line: command,
      directory: cwd,
      env,
      stdin,
      timeoutMs: timeout_ms,
      network,
      onFailure: on_failure,
      writable: !read_only
    }).pipe(Effect.flatMap(requireEnd)),
  render: showResult
})
