import { type ToolError, toolError } from "@haft/core"
import * as Effect from "effect/Effect"

import type { CommandRequest } from "./run-command.ts"

/** The kernel takes no longer argument, and no more of them together; a sandbox adds some of its own. */
const longestWord = 131_071
const longestCommand = 1_800_000
/** bubblewrap takes 9,000, in which each variable counts for three. */
const mostWords = 8000

/** Refuses a command that no system could start, and says why. */
export const checkWords = ({
  words,
  env = {}
}: Pick<CommandRequest, "words" | "env">): Effect.Effect<void, ToolError<"invalid_params">> => {
  const variables = Object.entries(env)
  const bad = variables.find(([name, value]) => name === "" || /[=\0]/.test(name) || value.includes("\0"))
  if (bad !== undefined) {
    return toolError(
      "invalid_params",
      `parameter 'env': '${bad[0].replaceAll("\0", "\\0")}' can't be a variable with this value`,
      {
        details: { parameter: "env" }
      }
    )
  }
  const count = words.length + 3 * variables.length
  if (count > mostWords) {
    return toolError(
      "invalid_params",
      `the command has ${words.length} words and ${variables.length} variables; that is too many`,
      {
        suggestion: "Write them to a file first, and use that."
      }
    )
  }
  const lengths = [...words, ...variables.map(([name, value]) => `${name}=${value}`)].map((word) =>
    Buffer.byteLength(word)
  )
  const longest = lengths.reduce((most, length) => Math.max(most, length), 0)
  if (longest > longestWord) return tooLong(longest, longestWord)
  // Each ends with a NUL, and a pointer leads to it.
  const total = lengths.reduce((sum, length) => sum + length + 9, 0)
  if (total > longestCommand) return tooLong(total, longestCommand)
  return words.some((word) => word.includes("\0"))
    ? toolError("invalid_params", "the command contains a NUL character, which no argument can")
    : Effect.void
}

const tooLong = (bytes: number, most: number): Effect.Effect<never, ToolError<"invalid_params">> =>
  toolError("invalid_params", `the command is ${bytes} bytes long; at most ${most} are possible`, {
    suggestion: "Write what is long to a file first, and use that."
  })
