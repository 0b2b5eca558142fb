import { Processes } from "@haft/core"
import * as Effect from "effect/Effect"

import type { ScreenView } from "./screen.ts"
import type { Terminal } from "./terminal.ts"

/**
 * Whether what is typed now will be seen on the screen. False at a password prompt, and whenever it can't be told:
 * what is not shown to the person at the screen does not go on record either.
 *
 * A device that echoes shows it. One that does not echo and still reads by the line, or leaves the return key as it
 * comes, hides it: that is how `read -s`, getpass, sudo and ssh ask. Line editors and full-screen programs take the
 * device over altogether and draw what is typed themselves; there the line in front of the cursor has to tell.
 */
export const showsWhatIsTyped = Effect.fnUntraced(function* (terminal: Terminal) {
  const flags = yield* deviceFlags(terminal)
  if (flags === undefined) return false
  if (!flags.has("-echo")) return true
  const { bracketedPaste } = yield* Effect.promise(() => terminal.screen.modes())
  const isDrawnByProgram = flags.has("-icanon") && (flags.has("-icrnl") || bracketedPaste)
  if (!isDrawnByProgram) return false
  const before = textBeforeCursor(yield* Effect.promise(() => terminal.screen.view()))
  return !secretPrompt.test(before) && before.endsWith(lastWord(terminal.pendingLine))
})

// Rows are put together, because a long line goes on in the next row.
const textBeforeCursor = ({ text, cursorRow, cursorColumn }: ScreenView): string => {
  const rows = text.split("\n")
  return rows.slice(0, cursorRow - 1).join("") + (rows[cursorRow - 1] ?? "").slice(0, cursorColumn - 1)
}

const secretPrompt =
  /(?:pass(?:word|wd|phrase|code)?|secret|token|api[- _]?key|\bpin\b|\botp\b|verification code|credential)[^:>?]{0,80}[:>?]\s*[*•]*\s*$/i

// What was typed of the line before should stand in front of the cursor now; if it does not, it was not shown.
const lastWord = (typed: string): string => typed.match(/[\w.-]+$/)?.[0] ?? ""

const deviceFlags = Effect.fnUntraced(function* ({ device, end }: Terminal) {
  if (device === undefined || end !== undefined) return undefined
  const processes = yield* Processes
  const chunks: Array<Uint8Array> = []
  const command = {
    program: "stty",
    args: [process.platform === "linux" ? "-F" : "-f", device, "-a"],
    directory: "/",
    env: { PATH: process.env["PATH"] ?? "", LC_ALL: "C" }
  }
  return yield* processes.run(command, { timeoutMs: 2000, onStdout: (chunk) => chunks.push(chunk.slice()) }).pipe(
    Effect.map(({ exitCode }) =>
      exitCode === 0
        ? new Set(
            Buffer.concat(chunks)
              .toString("latin1")
              .split(/[\s;]+/)
          )
        : undefined
    ),
    Effect.orElseSucceed(() => undefined)
  )
})
