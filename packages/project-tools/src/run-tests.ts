import { defineTool, toolError } from "@haft/core/promise"
import * as z from "zod"

import { findRunner, type Runner } from "./runners.ts"

const noRunner = toolError("file_not_found", "no test runner was found for this project", {
  suggestion: "Projects with vitest, jest, node --test or pytest are known. Run others as a command."
})

export const runTests = defineTool({
  name: "run_tests",
  description:
    "Run the project's tests with its own runner (vitest, jest, node --test or pytest) and get counts and failures. " +
    "Failing tests are a result, not an error.",
  input: z.strictObject({
    filter: z.string().min(1).max(1000).optional().describe("Only tests whose name matches"),
    timeout_ms: z.number().int().min(1000).max(3_600_000).default(300_000).describe("Stopped after this time")
  }),
  output: z.object({
    runner: z.string(),
    passed: z.number(),
    failed: z.number(),
    skipped: z.number(),
    duration_ms: z.number(),
    failures: z.array(z.object({ test: z.string(), file: z.string().optional(), message: z.string() }))
  }),
  risk: "dangerous",
  timeout: ({ timeout_ms }) => timeout_ms + 10_000,
  touches: async ({ filter }, { workspace }) => {
    const runner = await findRunner(workspace)
    return { reads: ["."], runs: runner === undefined ? "the project's tests" : lineOf(runner, filter) }
  },
  execute: async ({ filter, timeout_ms }, { run, workspace, progress }) => {
    const runner = await findRunner(workspace)
    if (runner === undefined) throw noRunner
    progress({ message: `running ${runner.name}` })
    const end = await run({ ...runner.command(filter), timeoutMs: timeout_ms, maxBytes: 20_000_000, env: { CI: "1" } })
    const outcome = runner.read(end.stdout.text)
    if (outcome !== undefined) return { runner: runner.name, duration_ms: Math.round(end.durationMs), ...outcome }
    const words = (end.stderr.text.trim() || end.stdout.text.trim()).slice(-2000)
    const problem = end.timedOut ? `was stopped after ${timeout_ms} ms` : `gave no result: ${words}`
    throw toolError(end.timedOut ? "timeout" : "command_failed", `${runner.name} ${problem}`, {
      suggestion: "Are the project's dependencies installed?",
      details: { exit_code: end.exitCode }
    })
  },
  render: ({ runner, passed, failed, skipped, failures }) =>
    [
      `${runner}: ${passed} passed, ${failed} failed, ${skipped} skipped`,
      ...failures.map(({ test, file, message }) => `\n✗ ${test}${file === undefined ? "" : ` (${file})`}\n${message}`)
    ].join("\n")
})

const lineOf = (runner: Runner, filter: string | undefined): string => {
  const { program, args = [] } = runner.command(filter)
  return [program, ...args].join(" ")
}
