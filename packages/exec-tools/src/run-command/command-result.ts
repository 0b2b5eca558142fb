import { type CommitFailure, toolError, type ToolError } from "@haft/core"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { changesOf, changesRemark, changesResult, noOverlayResult, requireCommit } from "./changes-report.ts"
import { linkOutput, outputPaths, outputPathsOf } from "./output-artifacts.ts"
import { controlFileList, controlFileResult, remarkOn } from "./quarantine-report.ts"
import type { CommandOutcome } from "./run-command.ts"
import { sandboxRemark } from "./sandbox-mark.ts"

/** How haft's own tools tell what a command did. */
export const commandResult = z.object({
  exit_code: z.number().int().describe("128 + number where a signal ended it"),
  signal: z.string().nullable(),
  timed_out: z.boolean(),
  duration_ms: z.number().int(),
  stdout: z.string().describe("Head and tail where it is long"),
  stderr: z.string(),
  stdout_bytes: z.number().int().describe("All that was printed"),
  stderr_bytes: z.number().int(),
  omitted_bytes: z.number().int().describe("Of both, left out here"),
  dropped_bytes: z.number().int().describe("Of both, left out of the files too"),
  ...outputPaths,
  left_running: z.number().int().describe("Processes it left behind; in a sandbox they ended with it"),
  sandbox: z.object({ kind: z.string(), isolated: z.boolean() }),
  changes: changesResult,
  no_overlay: noOverlayResult,
  control_files: controlFileResult
})

export const resultOf = (outcome: CommandOutcome): z.output<typeof commandResult> => ({
  exit_code: outcome.exitCode,
  signal: outcome.signal,
  timed_out: outcome.timedOut,
  duration_ms: outcome.durationMs,
  stdout: outcome.stdout.text,
  stderr: outcome.stderr.text,
  stdout_bytes: outcome.stdout.totalBytes,
  stderr_bytes: outcome.stderr.totalBytes,
  omitted_bytes: outcome.stdout.omittedBytes + outcome.stderr.omittedBytes,
  dropped_bytes: outcome.stdout.droppedBytes + outcome.stderr.droppedBytes,
  ...outputPathsOf(outcome),
  left_running: outcome.leftRunning,
  sandbox: outcome.sandbox,
  ...changesOf(outcome),
  ...controlFileList(outcome)
})

/** A command that was ended or that the shell did not find has failed; what it printed comes along. */
export const requireEnd = (
  outcome: CommandOutcome
): Effect.Effect<z.output<typeof commandResult>, ToolError<"timeout" | "command_not_found" | CommitFailure>> => {
  const output = resultOf(outcome)
  return linkOutput(outcome).pipe(
    Effect.andThen(requireCommit(outcome, output)),
    Effect.andThen(requireSuccess(outcome, output))
  )
}

const requireSuccess = (
  outcome: CommandOutcome,
  output: z.output<typeof commandResult>
): Effect.Effect<z.output<typeof commandResult>, ToolError<"timeout" | "command_not_found">> => {
  if (outcome.timedOut) {
    return toolError("timeout", `the command took longer than ${outcome.timeoutMs} ms and was ended`, {
      suggestion: `Give it more time with timeout_ms, or let it do less.${sandboxRemark(outcome)}`,
      output,
      retryable: true
    })
  }
  if (outcome.notFound !== undefined) {
    return toolError("command_not_found", `the shell did not find '${outcome.notFound}'`, {
      suggestion: `Check the spelling, or install it.${sandboxRemark(outcome)}`,
      details: { program: outcome.notFound },
      output
    })
  }
  return Effect.succeed(output)
}

/** Result of a command, formatted for people. */
export const showResult = (result: z.output<typeof commandResult>): string => {
  const remarks = [
    ...(result.exit_code === 0
      ? []
      : [`exit code ${result.exit_code}${result.signal === null ? "" : ` (${result.signal})`}`]),
    ...(result.left_running === 0 ? [] : [`${result.left_running} processes were left behind`]),
    ...(result.sandbox.isolated ? [] : ["ran without a sandbox"]),
    ...remarkOnChanges(result),
    ...movedOf(result)
  ]
  return [result.stdout, result.stderr, ...remarks.map((remark) => `[${remark}]`)]
    .filter((part) => part !== "")
    .map((part) => (part.endsWith("\n") ? part : `${part}\n`))
    .join("")
}

const remarkOnChanges = ({ changes }: z.output<typeof commandResult>): ReadonlyArray<string> => {
  const remark = changesRemark(changes)
  return remark === undefined ? [] : [remark]
}

/** Says which control files were moved out of the workspace, for people. */
export const movedOf = ({
  control_files: files = []
}: Pick<z.output<typeof commandResult>, "control_files">): ReadonlyArray<string> => {
  const moved = files.filter(({ moved_to }) => moved_to !== null)
  return moved.length === 0 ? [] : [remarkOn(moved.map(({ path }) => path))]
}
