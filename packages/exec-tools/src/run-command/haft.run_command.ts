import { withInput, withVariables } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { commandResult, requireEnd, showResult } from "./command-result.ts"
import { asksBeforehand, commandLineFor, commandTouches, runCommand, shellWords } from "./run-command.ts"

export const haftRunCommand = haft.tool({
  name: "run_command",
  operation: "run-command",
  description: "Run a shell command in the sandbox and wait for it. For servers and watchers use start_process.",
  input: z.strictObject({
    command: z.string().min(1).describe(commandLineFor),
    cwd: z.string().default(".").describe("Directory to run in"),
    env: z.record(z.string(), z.string()).default({}).describe("Environment variables"),
    stdin: z.string().optional().describe("Standard input"),
    timeout_ms: z.number().int().min(1).max(86_400_000).optional().describe("Time limit"),
    network: z.boolean().default(false).describe("Ask for network access"),
    on_failure: z
      .enum(["commit", "drop"])
      .default("commit")
      .describe("Drop discards changes of a failed run; needs an overlay"),
    read_only: z.boolean().default(false).describe("Forbid changes of the workspace")
  }),
  output: commandResult,
  examples: [{ command: "npm test" }, { command: "make", cwd: "native", timeout_ms: 600_000 }],
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
