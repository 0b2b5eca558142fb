import { clipText, makeToolError, toolError } from "@haft/core"
import {
  commandTouches,
  shell,
  type ShellOutcome,
  type ShellRequest,
  shellTouches,
  startProcess
} from "@haft/exec-tools/operations"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { claudeCode } from "../dialect.ts"
import { outputPathOf } from "../task-output.ts"

const usualTimeoutMs = 120_000
const longestTimeoutMs = 600_000
const mostCharacters = 30_000

const input = z.strictObject({
  command: z.string().describe("Command line for bash"),
  timeout: z.number().optional().describe(`Milliseconds; ${usualTimeoutMs} when absent, ${longestTimeoutMs} at most`),
  description: z.string().optional().describe("What the command does, for whoever is asked about it"),
  run_in_background: z.boolean().optional().describe("Start the command and return at once; stop it with TaskStop"),
  dangerouslyDisableSandbox: z.boolean().optional().describe("Refused: the sandbox is the host's decision")
})

type Call = z.output<typeof input>

const output = z.object({
  stdout: z.string(),
  stderr: z.string(),
  rawOutputPath: z.string().optional(),
  interrupted: z.boolean(),
  isImage: z.boolean().optional(),
  backgroundTaskId: z.string().optional(),
  timedOutAfterMs: z.number().optional(),
  returnCodeInterpretation: z.string().optional(),
  noOutputExpected: z.boolean().optional()
})

export const bash = claudeCode.tool({
  name: "Bash",
  operation: "shell",
  description:
    "Run a command in a bash that stays open between calls, in the sandbox. Its output, and its exit code where that is " +
    "not 0, are the answer. With run_in_background it goes on after the call, and Read shows its output.",
  input,
  output,
  risk: "dangerous",
  timeout: (call) => Duration.millis(timeoutOf(call) + 30_000),
  touches: (call) =>
    call.run_in_background === true
      ? commandTouches({ runs: call.command, reads: ["."] })
      : shellTouches(requestOf(call)),
  execute: Effect.fnUntraced(function* (call) {
    if (call.dangerouslyDisableSandbox === true) {
      return yield* toolError("approval_denied", "the sandbox can't be switched off by a call; nothing was run", {
        suggestion: "Leave dangerouslyDisableSandbox out, or ask the person who runs the host.",
        details: { by: "policy", parameter: "dangerouslyDisableSandbox" }
      })
    }
    if (call.run_in_background === true) return yield* inBackground(call)
    return yield* answerOf(yield* shell(requestOf(call)), call)
  }),
  render: ({ stdout, stderr, backgroundTaskId }) => {
    if (backgroundTaskId !== undefined) {
      return `Command running in background with ID: ${backgroundTaskId}. Output is being written to: ${outputPathOf(backgroundTaskId)}`
    }
    const printed = [stdout.replace(/\n$/, ""), stderr.trim()].filter((part) => part !== "")
    return printed.length === 0 ? "(Bash completed with no output)" : printed.join("\n")
  }
})

const timeoutOf = ({ timeout = usualTimeoutMs }: Call): number =>
  Math.min(longestTimeoutMs, Math.max(1, Math.floor(timeout)))

/** Request to the persistent shell, one object per call: by its identity the shell finds what the touches declared. */
const requestOf = (call: Call): ShellRequest => ({
  call,
  session: "default",
  command: call.command,
  restart: false,
  timeoutMs: timeoutOf(call)
})

const inBackground = Effect.fnUntraced(function* ({ command, timeout }: Call) {
  const { id } = yield* startProcess({
    command,
    directory: ".",
    env: {},
    network: false,
    waitMs: 0,
    lifetimeMs: timeout
  })
  return { stdout: "", stderr: "", interrupted: false, backgroundTaskId: id }
})

const answerOf = Effect.fnUntraced(function* (outcome: ShellOutcome, { command }: Call) {
  const [stdout, stderr] = [
    clipText(outcome.stdout.text, mostCharacters),
    // An interactive bash that is told to exit says so.
    clipText(outcome.isOver ? outcome.stderr.text.replace(/(?<=^|\n)exit\n$/, "") : outcome.stderr.text, mostCharacters)
  ]
  const answer = {
    stdout: stdout.text,
    stderr: stderr.text,
    interrupted: outcome.timedOut,
    ...((stdout.truncated || outcome.stdout.truncated) && { rawOutputPath: outcome.stdout.path })
  }
  const printed = [answer.stdout.replace(/\n$/, ""), answer.stderr.trim()].filter((part) => part !== "")
  if (outcome.timedOut) {
    const message = ["Exit code 143", ...printed, `Command timed out after ${shownTime(outcome.timeoutMs)}`].join("\n")
    return yield* makeToolError("timeout", message, {
      details: { worded: true },
      output: { ...answer, timedOutAfterMs: outcome.timeoutMs }
    })
  }
  const meaning = outcome.exitCode === 0 ? undefined : interpretationOf(command, outcome.exitCode)
  if (outcome.exitCode === 0 || meaning !== undefined) {
    return { ...answer, ...(meaning !== undefined && { returnCodeInterpretation: meaning }) }
  }
  const message = [`Exit code ${outcome.exitCode}`, ...printed].join("\n")
  return yield* makeToolError("command_failed", message, { details: { worded: true }, output: answer })
})

/** Programs whose exit code 1 is an answer. */
const meanings: Readonly<Record<string, string>> = {
  grep: "No matches found",
  rg: "No matches found",
  diff: "Files differ",
  find: "Some directories were inaccessible",
  test: "Condition is false",
  "[": "Condition is false"
}

const interpretationOf = (command: string, exitCode: number): string | undefined => {
  const last = command.split(/\||&&|;|\n/).at(-1) ?? ""
  const [program = ""] = last.trim().split(/\s+/)
  return exitCode === 1 && Object.hasOwn(meanings, program) ? meanings[program] : undefined
}

const shownTime = (milliseconds: number): string => {
  const seconds = Math.round(milliseconds / 1000)
  if (milliseconds < 1000) return `${milliseconds}ms`
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m ${seconds % 60}s`
}
