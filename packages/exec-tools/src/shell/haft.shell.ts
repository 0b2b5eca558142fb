import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { movedOf } from "../run-command/command-result.ts"
import { linkOutput, outputPaths, outputPathsOf } from "../run-command/output-artifacts.ts"
import { controlFileList, controlFileResult } from "../run-command/quarantine-report.ts"
import { longestCommand, shell, type ShellRequest, shellTimeout, shellTouches } from "./shell.ts"

export const haftShell = haft.tool({
  name: "shell",
  profile: "all",
  operation: "shell",
  description: "Run a command in a persistent bash that keeps directory, variables and functions. No input.",
  input: z
    .strictObject({
      command: z
        .string()
        .min(1)
        .refine((text) => !text.includes("\0"), "must not contain NUL")
        .refine((text) => Buffer.byteLength(text) <= longestCommand, `must have at most ${longestCommand} bytes`)
        .optional()
        .describe("Command line; optional with restart"),
      session_id: z
        .string()
        .regex(/^[\w.-]{1,64}$/, "must have 1 to 64 letters, digits, '.', '_' or '-'")
        .default("default")
        .describe("Shell; a new name opens one"),
      restart: z.boolean().default(false).describe("End the shell first"),
      network: z.boolean().default(false).describe("Ask for network access, when the shell is opened"),
      timeout_ms: z.number().int().min(1).max(86_400_000).optional().describe("Time limit")
    })
    .refine(({ command, restart }) => command !== undefined || restart, {
      path: ["command"],
      message: "is required unless restart is true"
    }),
  output: z.object({
    session_id: z.string(),
    exit_code: z.number().int().describe("Of the command, or of the shell where that ended"),
    timed_out: z.boolean(),
    shell: z.enum(["running", "ended"]).describe("After ended, the next command starts in a new shell"),
    new_shell: z.boolean().describe("Opened for this command"),
    cwd: z.string().nullable().describe("Directory after the command, relative to the workspace"),
    duration_ms: z.number().int(),
    stdout: z.string().describe("Head and tail where it is long"),
    stderr: z.string(),
    omitted_bytes: z.number().int().describe("Of both, left out here"),
    ...outputPaths,
    sandbox: z.string(),
    control_files: controlFileResult
  }),
  risk: "dangerous",
  // To end a shell needs no consent.
  asks: ({ runs }) => runs !== undefined,
  touches: (input) => shellTouches(requestOf(input)),
  execute: Effect.fnUntraced(function* (input) {
    const { session_id } = input
    const outcome = yield* shell(requestOf(input))
    const { stdout, stderr } = outcome
    yield* linkOutput(outcome)
    const output = {
      session_id,
      exit_code: outcome.exitCode,
      timed_out: outcome.timedOut,
      shell: outcome.isOver ? ("ended" as const) : ("running" as const),
      new_shell: outcome.isNew,
      cwd: outcome.directory,
      duration_ms: outcome.durationMs,
      stdout: stdout.text,
      stderr: stderr.text,
      omitted_bytes: stdout.omittedBytes + stderr.omittedBytes,
      ...outputPathsOf(outcome),
      sandbox: outcome.sandbox.kind,
      ...controlFileList(outcome)
    }
    return outcome.timedOut ? yield* shellTimeout(outcome, output) : output
  }),
  render: ({ stdout, stderr, exit_code, shell: state, sandbox, control_files }) =>
    [
      stdout,
      stderr,
      ...movedOf({ control_files }).map((remark) => `[${remark}]`),
      ...(exit_code === 0 ? [] : [`[exit code ${exit_code}]`]),
      ...(state === "running" ? [] : ["[the shell has ended]"]),
      ...(sandbox === "none" ? ["[ran without a sandbox]"] : [])
    ]
      .filter((part) => part !== "")
      .map((part) => (part.endsWith("\n") ? part : `${part}\n`))
      .join("")
})

const requestOf = (input: {
  readonly command?: string | undefined
  readonly session_id: string
  readonly restart: boolean
  readonly network: boolean
  readonly timeout_ms?: number | undefined
}): ShellRequest => ({
  call: input,
  session: input.session_id,
  command: input.command,
  restart: input.restart,
  network: input.network,
  timeoutMs: input.timeout_ms
})
