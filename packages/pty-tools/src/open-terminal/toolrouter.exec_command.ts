import { toolrouter } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { plainBytes, plainOutput, plainWire, showPlain } from "../terminals/toolrouter-words.ts"
import { fits, hasNoNul, mustFit, openTerminal } from "./open-terminal.ts"

// The contract shows text and no screens, so programs are told that escape sequences and pagers are of no use here.
const plainEnvironment = { TERM: "dumb", NO_COLOR: "1", PAGER: "cat", GIT_PAGER: "cat" }

export const toolrouterExecCommand = toolrouter.tool({
  name: "exec_command",
  operation: "open-terminal",
  description: "Start a long-running command behind a terminal, under a session id of your choice.",
  input: z.strictObject({
    session_id: z
      .string()
      .refine((id) => id !== "" && id.length <= 200, "must have 1 to 200 characters")
      .describe("Your name for the session; write_stdin refers to it"),
    cmd: z
      .string()
      .refine((command) => command !== "" && hasNoNul(command), "must not be empty or contain NUL")
      .refine(fits, mustFit)
      .describe("Command line to run"),
    workdir: z.string().nullable().default(null).describe("Directory to start in; the workspace when null")
  }),
  output: plainOutput,
  risk: "dangerous",
  timeout: "60 seconds",
  touches: ({ cmd, workdir }) => ({ runs: cmd, reads: [workdir ?? "."] }),
  execute: ({ session_id, cmd, workdir }) =>
    openTerminal({
      command: cmd,
      directory: workdir ?? ".",
      env: plainEnvironment,
      size: { cols: 80, rows: 24 },
      label: session_id,
      yieldMs: 10_000,
      quietMs: 300,
      view: "raw",
      maxBytes: plainBytes
    }).pipe(Effect.flatMap(plainWire)),
  render: showPlain
})
