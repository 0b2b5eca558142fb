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
  profile: "all",
  operation: "open-terminal",
  description:
    "Run an interactive program in a terminal. Returns its output once it ends, is quiet or yield_time_ms is up; go on " +
    "with write_terminal.",
  input: z.strictObject({
    command: z
      .string()
      .min(1)
      .refine(hasNoNul, "must not contain NUL")
      .refine(fits, mustFit)
      .default("bash")
      .describe("Command line for bash"),
    directory: z.string().default(".").describe("Directory to run in"),
    env: z
      .record(z.string().min(1), z.string())
      .refine((env) => Object.entries(env).every(isVariable), "must not contain NUL, nor '=' in a name")
      .refine((env) => Object.entries(env).every(([name, value]) => fits(`${name}=${value}`)), mustFit)
      .default({})
      .describe("Environment variables"),
    network: z.boolean().default(false).describe("Ask for network access"),
    cols: windowSize.default(80).describe("Width"),
    rows: windowSize.default(24).describe("Height"),
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
