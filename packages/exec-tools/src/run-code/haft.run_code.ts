import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { commandResult, requireEnd, showResult } from "../run-command/command-result.ts"
import { asksBeforehand, commandTouches } from "../run-command/run-command.ts"
import { codeAsCommand, runCode } from "./run-code.ts"

export const haftRunCode = haft.tool({
  name: "run_code",
  operation: "run-code",
  description:
    "Run Python or bash code in the sandbox, with the workspace as its directory. " +
    "A non-zero exit code is a result, not an error.",
  input: z.strictObject({
    language: z.enum(["python", "bash"]).describe("What the code is written in"),
    code: z.string().min(1).describe("The program"),
    args: z.array(z.string()).default([]).describe("Command-line arguments"),
    env: z.record(z.string(), z.string()).default({}).describe("Environment variables to add"),
    timeout_ms: z.number().int().min(1).max(86_400_000).default(60_000).describe("Before the program is ended"),
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
