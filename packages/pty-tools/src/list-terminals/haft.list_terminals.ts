import { singleLine } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { listTerminals } from "./list-terminals.ts"

export const haftListTerminals = haft.tool({
  name: "list_terminals",
  profile: "all",
  operation: "list-terminals",
  description: "List terminals, ended ones too.",
  input: z.strictObject({}),
  output: z.object({
    terminals: z.array(
      z.object({
        terminal_id: z.string(),
        command: z.string(),
        directory: z.string(),
        state: z.enum(["running", "ended"]),
        exit_code: z.number().nullable(),
        signal: z.string().nullable(),
        cols: z.number(),
        rows: z.number(),
        opened_at: z.string(),
        idle_ms: z.number(),
        cursor: z.number(),
        unread_bytes: z.number(),
        recording: z.string().nullable()
      })
    )
  }),
  risk: "read_only",
  execute: () =>
    Effect.map(listTerminals, (listed) => ({
      terminals: listed.map((terminal) => ({
        terminal_id: terminal.id,
        command: terminal.command,
        directory: terminal.directory,
        state: terminal.isRunning ? ("running" as const) : ("ended" as const),
        exit_code: terminal.exitCode,
        signal: terminal.signal,
        cols: terminal.cols,
        rows: terminal.rows,
        opened_at: new Date(terminal.openedAt).toISOString(),
        idle_ms: terminal.idleMs,
        cursor: terminal.cursor,
        unread_bytes: terminal.unreadBytes,
        recording: terminal.recording
      }))
    })),
  render: ({ terminals }) =>
    terminals.length === 0
      ? "no terminals"
      : terminals
          .map(({ terminal_id, state, command }) => singleLine(`${terminal_id}  ${state}  ${command}`))
          .join("\n")
})
