import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { commandResult, resultOf, showResult } from "../run-command/command-result.ts"
import { lastCommand } from "./last-command.ts"

export const haftLastCommand = haft.tool({
  name: "last_command",
  profile: "all",
  operation: "last-command",
  description: "Show the last command or code that ran, and its result.",
  input: z.strictObject({}),
  output: commandResult.extend({ command: z.string(), cwd: z.string(), started_at: z.string() }),
  risk: "read_only",
  execute: Effect.fnUntraced(function* () {
    const past = yield* lastCommand
    const { command, directory: cwd, startedAt } = past
    return { command, cwd, started_at: new Date(startedAt).toISOString(), ...resultOf(past) }
  }),
  render: (result) => `$ ${result.command}\n${showResult(result)}`
})
