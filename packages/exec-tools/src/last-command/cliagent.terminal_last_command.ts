import { cliagent } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { sandboxField, sandboxMark, showSandbox } from "../run-command/sandbox-mark.ts"
import { lastCommand } from "./last-command.ts"

export const cliagentTerminalLastCommand = cliagent.tool({
  name: "terminal_last_command",
  operation: "last-command",
  description: "Show the last shell command of this session and what it printed.",
  input: z.strictObject({}),
  output: z.object({
    output: z.string(),
    files_affected: z.array(z.string()),
    metadata: z.object({ command: z.string(), exit_code: z.number(), executed_at: z.string(), sandbox: sandboxField })
  }),
  risk: "read_only",
  execute: () =>
    lastCommand.pipe(
      Effect.map((past) => ({
        output: `Last command: ${past.command}\nOutput: ${past.stdout.text}${past.stderr.text}`,
        files_affected: [],
        metadata: {
          command: past.command,
          exit_code: past.exitCode,
          executed_at: new Date(past.startedAt).toISOString().replace(/\.\d+Z$/, "Z"),
          ...sandboxMark(past)
        }
      }))
    ),
  render: ({ output, metadata }) => output + showSandbox(metadata.sandbox),
  wording: { no_history: () => "No previous command in this session" }
})
