import { singleLine, toolError } from "@haft/core"
import {
  commandTouches,
  listProcesses,
  type ManagedProcess,
  readOutput,
  runCommand,
  shellWords,
  startProcess
} from "@haft/exec-tools/operations"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { answer, geminiCli, worded } from "../dialect.ts"

const mostBytes = 64 * 1024
const longestDelayMs = 60_000

const input = z.strictObject({
  command: z.string().describe("Command line for bash"),
  description: z.string().optional().describe("What the command does, for whoever is asked about it"),
  dir_path: z.string().optional().describe("Directory to run in; the workspace when absent"),
  is_background: z.boolean().optional().describe("Start the command and return; read_background_output goes on"),
  delay_ms: z.number().int().optional().describe("In the background: wait so long for first output; 200 when absent"),
  additional_permissions: z
    .strictObject({
      network: z.boolean().optional().describe("Ask for the network; refused where the host does not allow it"),
      fileSystem: z
        .strictObject({ read: z.array(z.string()).optional(), write: z.array(z.string()).optional() })
        .optional()
        .describe("Refused: the sandbox is the host's decision")
    })
    .optional()
    .describe("What the command needs beyond the sandbox")
})

type Call = z.output<typeof input>

export const runShellCommand = geminiCli.tool({
  name: "run_shell_command",
  operation: "run-command",
  description: "Run a command in the sandbox and return what it printed, and its exit code where that is not 0.",
  input,
  output: answer,
  risk: "dangerous",
  touches: ({ command, dir_path = ".", additional_permissions: permissions }) =>
    commandTouches({ runs: command, reads: [dir_path], network: permissions?.network === true }),
  execute: Effect.fnUntraced(function* (call) {
    if (call.additional_permissions?.fileSystem !== undefined) {
      return yield* toolError("approval_denied", "a call can't open the sandbox for more files; nothing was run", {
        suggestion: "Leave fileSystem out, or ask the person who runs the host.",
        details: { by: "policy", parameter: "additional_permissions" }
      })
    }
    if (call.is_background === true) return yield* inBackground(call)
    const outcome = yield* runCommand({
      command: call.command,
      words: shellWords(`${call.command}\n`),
      directory: call.dir_path ?? ".",
      network: call.additional_permissions?.network === true
    })
    const { stdout, stderr, exitCode, signal, timedOut, timeoutMs } = outcome
    const printed = [stdout.text, stderr.text].filter((text) => text !== "").map((text) => text.replace(/\n$/, ""))
    return {
      llmContent: untrusted([
        ...(timedOut
          ? [`Command was automatically cancelled because it exceeded the timeout of ${timeoutMs} ms.`]
          : []),
        `Output: ${printed.length === 0 ? "(empty)" : printed.join("\n")}`,
        ...(exitCode === 0 || timedOut ? [] : [`Exit Code: ${exitCode}`]),
        ...(signal === null ? [] : [`Signal: ${signal}`])
      ])
    }
  }),
  render: ({ llmContent }) => llmContent
})

/** Marks content from elsewhere as data, not instructions. */
const untrusted = (lines: ReadonlyArray<string>): string =>
  ["<untrusted_context>", ...lines, "</untrusted_context>"].join("\n")

const inBackground = Effect.fnUntraced(function* ({
  command,
  dir_path = ".",
  delay_ms = 200,
  additional_permissions
}: Call) {
  const managed = yield* startProcess({
    command,
    directory: dir_path,
    env: {},
    network: additional_permissions?.network === true,
    waitMs: Math.min(longestDelayMs, Math.max(0, delay_ms))
  })
  const pid = numberOf(managed)
  const { output } = yield* readOutput(managed.id, { cursor: 0, maxBytes: mostBytes })
  const moved = `Command moved to background (PID: ${pid}). Output hidden. Use read_background_output to view it.`
  return {
    llmContent: output === "" ? moved : `${moved}\n${untrusted([`Initial Output: ${output.replace(/\n$/, "")}`])}`
  }
})

/** Numbers of background processes, as the contract names them. They are the host's own, not the system's. */
const numbers = new WeakMap<ManagedProcess, number>()
let lastNumber = 0

const numberOf = (managed: ManagedProcess): number => {
  const known = numbers.get(managed) ?? ++lastNumber
  numbers.set(managed, known)
  return known
}

export const listBackgroundProcesses = geminiCli.tool({
  name: "list_background_processes",
  operation: "list-processes",
  description: "List the commands that were started in the background, and whether they still run.",
  input: z.strictObject({}),
  output: answer,
  risk: "read_only",
  execute: () =>
    Effect.map(listProcesses, (processes) => ({
      llmContent:
        processes.length === 0
          ? "No background processes found."
          : processes
              .map((one) => `- [PID ${numberOf(one)}] ${stateOf(one)}: \`${singleLine(one.command)}\``)
              .join("\n")
    })),
  render: ({ llmContent }) => llmContent
})

const stateOf = ({ end }: ManagedProcess): string =>
  end === undefined
    ? "RUNNING"
    : `EXITED${"exitCode" in end && end.exitCode !== null ? ` (Exit Code: ${end.exitCode})` : ""}`

export const readBackgroundOutput = geminiCli.tool({
  name: "read_background_output",
  operation: "read-output",
  description: "Read the last lines that a background command has printed.",
  input: z.strictObject({
    pid: z.number().int().describe("The command, as run_shell_command numbered it"),
    lines: z.number().int().min(1).default(100).describe("Lines to read at most, from the end"),
    delay_ms: z.number().int().min(0).default(0).describe("Wait so long before reading")
  }),
  output: answer,
  risk: "read_only",
  timeout: ({ delay_ms }) => Duration.millis(Math.min(longestDelayMs, delay_ms) + 30_000),
  execute: Effect.fnUntraced(function* ({ pid, lines, delay_ms }) {
    const managed = (yield* listProcesses).find((one) => numberOf(one) === pid)
    if (managed === undefined) {
      return yield* worded("session_not_found", `Access denied: Background process ID ${pid} not found or not yours.`)
    }
    yield* Effect.sleep(Duration.millis(Math.min(longestDelayMs, delay_ms)))
    const { output } = yield* readOutput(managed.id, { tailLines: lines, maxBytes: mostBytes })
    if (output === "") return { llmContent: "Log is empty." }
    return { llmContent: untrusted([output.replace(/\n$/, "")]) }
  }),
  render: ({ llmContent }) => llmContent
})
