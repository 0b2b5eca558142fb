import { requireNetwork, withVariables } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import {
  maxBytes,
  quietTime,
  reportFields,
  reportWire,
  showReport,
  view,
  windowSize,
  yieldTime
} from "../terminals/haft-words.ts"
import { fits, hasNoNul, mustFit, openTerminal } from "./open-terminal.ts"

export const haftOpenTerminal = haft.tool({
  name: "open_terminal",
  operation: "open-terminal",
  description:
    "Open a terminal and run a command line in it, an interactive shell by default. Returns what it printed once it " +
    "ends, falls quiet or yield_time_ms is up. The program goes on running: use write_terminal to type and to read more.",
  input: z.strictObject({
    command: z
      .string()
      .min(1)
      .refine(hasNoNul, "must not contain NUL")
      .refine(fits, mustFit)
      .default("bash")
      .describe("Command line, run by bash"),
    directory: z.string().default(".").describe("Directory to start in, relative to the workspace"),
    env: z
      .record(z.string().min(1), z.string())
      .refine((env) => Object.entries(env).every(isVariable), "must not contain NUL, nor '=' in a name")
      .refine((env) => Object.entries(env).every(([name, value]) => fits(`${name}=${value}`)), mustFit)
      .default({})
      .describe("Variables to set for the program"),
    network: z.boolean().default(false).describe("Ask for the network; refused where the host does not allow it"),
    cols: windowSize.default(80).describe("Width of the window in characters"),
    rows: windowSize.default(24).describe("Height of the window in lines"),
    yield_time_ms: yieldTime.default(10_000),
    quiet_ms: quietTime.default(300),
    view,
    max_bytes: maxBytes
  }),
  output: z.object({ ...reportFields, sandbox: z.string(), recording: z.string().nullable() }),
  risk: "dangerous",
  timeout: "60 seconds",
  touches: ({ command, directory, env, network }) =>
    Effect.as(requireNetwork(network), { runs: withVariables(command, env), reads: [directory], network }),
  execute: Effect.fnUntraced(function* (input) {
    const { command, directory, env, network, cols, rows, yield_time_ms, quiet_ms, view, max_bytes } = input
    const opened = yield* openTerminal({
      command,
      directory,
      env,
      network,
      size: { cols, rows },
      yieldMs: yield_time_ms,
      quietMs: quiet_ms,
      view,
      maxBytes: max_bytes
    })
    return { ...reportWire(opened), sandbox: opened.sandbox, recording: opened.terminal.recording ?? null }
  }),
  render: showReport
})

const isVariable = ([name, value]: [string, string]): boolean =>
  hasNoNul(name) && hasNoNul(value) && !name.includes("=")
