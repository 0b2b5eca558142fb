import { singleLine, toolError } from "@haft/core"
import { openTerminal, Terminals, typesInto, withoutHiddenText, writeTerminal } from "@haft/pty-tools/operations"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { bytesFor, commandOutput, maxOutputTokens, outputOf, showOutput } from "../command-output.ts"
import { codex, worded } from "../dialect.ts"

const milliseconds = (least: number, most: number, given: number | undefined, usual: number): number =>
  Math.min(most, Math.max(least, Math.floor(given ?? usual)))

// Programs without a terminal are told that escape sequences and pagers are of no use.
const plainEnvironment = { TERM: "dumb", NO_COLOR: "1", PAGER: "cat", GIT_PAGER: "cat" }

export const execCommand = codex.tool({
  name: "exec_command",
  operation: "open-terminal",
  description:
    "Run a command in the sandbox. Returns when it ends, or after yield_time_ms with a session id: write_stdin then " +
    "reads on, or types into it.",
  input: z.strictObject({
    cmd: z
      .string()
      .refine((command) => command !== "" && !command.includes("\0"), "must not be empty or contain NUL")
      .describe("Command line to run"),
    workdir: z.string().optional().describe("Directory to run in; the workspace when absent"),
    tty: z.boolean().optional().describe("Behave as in a terminal: colors and escape sequences are kept"),
    yield_time_ms: z.number().optional().describe("Wait so long for its end: 10000 when absent, 250 to 30000"),
    max_output_tokens: maxOutputTokens,
    sandbox_permissions: z
      .enum(["use_default", "require_escalated"])
      .optional()
      .describe("require_escalated is refused: the sandbox is the host's decision"),
    justification: z.string().optional().describe("Why the command is needed, for whoever is asked"),
    prefix_rule: z
      .array(z.string())
      .optional()
      .describe("Words of a command to allow from now on, for whoever is asked")
  }),
  output: commandOutput,
  risk: "dangerous",
  timeout: "60 seconds",
  touches: ({ cmd, workdir = "." }) => ({ runs: cmd, reads: [workdir] }),
  execute: Effect.fnUntraced(function* ({ cmd, workdir = ".", tty = false, ...call }) {
    if (call.sandbox_permissions === "require_escalated") {
      return yield* toolError("approval_denied", "the sandbox can't be left by a call; nothing was run", {
        suggestion: "Leave sandbox_permissions out, or ask the person who runs the host.",
        details: { by: "policy", parameter: "sandbox_permissions" }
      })
    }
    const yieldMs = milliseconds(250, 30_000, call.yield_time_ms, 10_000)
    const began = yield* Clock.currentTimeMillis
    const report = yield* openTerminal({
      command: cmd,
      directory: workdir,
      env: tty ? {} : plainEnvironment,
      size: { cols: 200, rows: 50 },
      label: String(yield* newSession),
      yieldMs,
      quietMs: yieldMs,
      view: "raw",
      maxBytes: bytesFor(call.max_output_tokens)
    })
    return outputOf(report, ((yield* Clock.currentTimeMillis) - began) / 1000)
  }),
  render: showOutput
})

/** The number that the last session of a host was given. */
const lastSession = new WeakMap<typeof Terminals.Service, number>()

const newSession = Terminals.useSync((terminals) => {
  const next = (lastSession.get(terminals) ?? 1000) + 1
  lastSession.set(terminals, next)
  return next
})

export const writeStdin = codex.tool({
  name: "write_stdin",
  operation: "write-terminal",
  description: "Type into a command that exec_command left running, or only wait, and return what it printed since.",
  input: z.strictObject({
    session_id: z.number().describe("The session, as exec_command named it"),
    chars: z.string().default("").describe("Characters to type; none to only wait"),
    yield_time_ms: z
      .number()
      .optional()
      .describe("Wait so long: 250 to 30000 after typing, 5000 to 300000 when nothing is typed"),
    max_output_tokens: maxOutputTokens
  }),
  output: commandOutput,
  risk: "dangerous",
  // To wait for output needs no consent.
  asks: ({ types }) => types !== undefined,
  timeout: "6 minutes",
  forRecord: (args) => withoutHiddenText(args, "session_id"),
  touches: (call) =>
    typesInto({ id: String(call.session_id), text: call.chars, keys: [] }, call).pipe(
      Effect.mapError((error) => inSessionWords(error, call.session_id))
    ),
  execute: Effect.fnUntraced(function* (call) {
    const { session_id, chars, yield_time_ms, max_output_tokens } = call
    const wait =
      chars === "" ? milliseconds(5000, 300_000, yield_time_ms, 5000) : milliseconds(250, 30_000, yield_time_ms, 250)
    const began = yield* Clock.currentTimeMillis
    const report = yield* writeTerminal({
      call,
      id: String(session_id),
      text: chars,
      keys: [],
      view: "raw",
      maxBytes: bytesFor(max_output_tokens),
      yieldMs: wait,
      quietMs: wait
    }).pipe(Effect.mapError((error) => inSessionWords(error, session_id)))
    return outputOf(report, ((yield* Clock.currentTimeMillis) - began) / 1000)
  }),
  render: showOutput
})

const inSessionWords = <E extends { readonly code: string }>(error: E, id: number): E =>
  error.code === "session_not_found"
    ? (worded("session_not_found", `write_stdin failed: Unknown process id ${singleLine(String(id))}`) as unknown as E)
    : error
