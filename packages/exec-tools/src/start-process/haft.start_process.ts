import { withVariables } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import {
  maxBytes,
  outputFields,
  outputWire,
  processFields,
  processWire,
  showProcess
} from "../managed-processes/haft-process-fields.ts"
import { readRetained } from "../managed-processes/output-reading.ts"
import { commandLineFor, commandTouches } from "../run-command/run-command.ts"
import { startProcess } from "./start-process.ts"

export const haftStartProcess = haft.tool({
  name: "start_process",
  profile: "coding",
  operation: "start-process",
  description:
    "Start a command in the background, such as a server. It ends with the host. See wait_for, read_output, stop_process.",
  input: z.strictObject({
    command: z.string().min(1).describe(commandLineFor),
    cwd: z.string().default(".").describe("Directory to run in"),
    env: z.record(z.string(), z.string()).default({}).describe("Environment variables"),
    network: z.boolean().default(false).describe("Ask for network access"),
    wait_ms: z.number().int().min(0).max(10_000).default(250).describe("Wait for an early end"),
    max_bytes: maxBytes
  }),
  output: z.object({ ...processFields, ...outputFields, sandbox: z.string() }),
  risk: "dangerous",
  touches: ({ command, cwd, env, network }) =>
    commandTouches({ runs: withVariables(command, env), network, reads: [cwd] }),
  execute: Effect.fnUntraced(function* ({ command, cwd, env, network, wait_ms, max_bytes }) {
    const managed = yield* startProcess({ command, directory: cwd, env, network, waitMs: wait_ms })
    const read = yield* readRetained(managed, { maxBytes: max_bytes })
    return { ...processWire(managed), ...outputWire(read), sandbox: managed.sandbox.kind }
  }),
  render: showProcess
})
