import { toolrouter } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { plainBytes, plainOutput, plainWire, showPlain } from "../terminals/toolrouter-words.ts"
import { typesInto, withoutHiddenText, writeTerminal } from "./write-terminal.ts"

export const toolrouterWriteStdin = toolrouter.tool({
  name: "write_stdin",
  operation: "write-terminal",
  description: "Type into a session that exec_command started, and return what it printed since the last reply.",
  input: z.strictObject({
    session_id: z.string().describe("The session, as it was named for exec_command"),
    chars: z
      .string()
      .refine((text) => text.length <= 100_000, "must have at most 100000 characters")
      .describe("Characters to type; none to only read")
  }),
  output: plainOutput,
  risk: "dangerous",
  timeout: "60 seconds",
  forRecord: (args) => withoutHiddenText(args, "session_id"),
  touches: (input) => typesInto({ id: input.session_id, text: input.chars, keys: [] }, input),
  execute: Effect.fnUntraced(function* (input) {
    const { session_id: id, chars: text } = input
    const reading = { view: "raw", maxBytes: plainBytes } as const
    const patience = { yieldMs: 2000, quietMs: 150, silentMs: 250 }
    return yield* plainWire(yield* writeTerminal({ call: input, id, text, keys: [], ...reading, ...patience }))
  }),
  render: showPlain
})
