import { cliagent } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { lastCommand } from "./last-command.ts"

export const cliagentTerminalLastCommand = cliagent.tool({
  name: "terminal_last_command",
  description: "Show the last shell command of this session and what it printed.",
  input: z.strictObject({}),
  output: z.object({
    output: z.string(),
    files_affected: z.array(z.string()),
    metadata: z.object({ command: z.string(), exit_code: z.number(), executed_at: z.string() })
  }),
  risk: "read_only",
  execute: () =>
    lastCommand.pipe(
      Effect.map(({ command, exitCode, stdout, stderr, startedAt }) => ({
        output: `Last command: ${command}\nOutput: ${stdout.text}${stderr.text}`,
        files_affected: [],
        metadata: {
          command,
          exit_code: exitCode,
          executed_at: new Date(startedAt).toISOString().replace(/\.\d+Z$/, "Z")
        }
      }))
    ),
  render: ({ output }) => output,
  wording: { no_history: () => "No previous command in this session" }
})
