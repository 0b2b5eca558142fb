import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { commandResult, requireEnd, showResult } from "../run-command/command-result.ts"
import { asksBeforehand, commandTouches } from "../run-command/run-command.ts"
import { codeAsCommand, runCode } from "./run-code.ts"

export const haftRunCode = haft.tool({
  name: "run_code",
  profile: "all",
  operation: "run-code",
  description: "Run code in the sandbox, in the workspace.",
  input: z.strictObject({
    language: z.enum(["python", "bash"]).describe("Language"),
    code: z.string().min(1).describe("Program"),
    args: z.array(z.string()).default([]).describe("Arguments"),
    env: z.record(z.string(), z.string()).default({}).describe("Environment variables"),
    timeout_ms: z.number().int().min(1).max(86_400_000).default(60_000).describe("Time limit"),
    network: z.boolean().default(false).describe("Ask for network access"),
    on_failure: z
      .enum(["commit", "drop"])
      .default("commit")
      .describe("Drop discards changes of a failed run; needs an overlay"),
    read_only: z.boolean().default(false).describe("Forbid changes of the workspace")
  }),
  output: commandResult,
  risk: "dangerous",
  asks: asksBeforehand,
  touches: (request) =>
    commandTouches(
      { runs: codeAsCommand(request), network: request.network },
      { readOnly: request.read_only, mayOverlay: true }
    ),
  execute: ({ language, code, args, env, timeout_ms, network, on_failure, read_only }) =>
    runCode({
      language,
      code,
      args,
      env,
      timeoutMs: timeout_ms,
      network,
      onFailure: on_failure,
      writable: !read_only
    }).pipe(Effect.flatMap(requireEnd)),
  render: showResult
})
