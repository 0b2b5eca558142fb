import { CurrentCall, toolError, type ToolError } from "@haft/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import type { CommandOutcome } from "../run-command/run-command.ts"

/** A command that has run, and how it went. */
export interface PastCommand extends CommandOutcome {
  readonly command: string
  /** Relative to the workspace. */
  readonly directory: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
}

/** Remembers the last command of each caller. */
export class CommandMemory extends Context.Service<
  CommandMemory,
  {
    readonly remember: (command: PastCommand) => Effect.Effect<void>
    readonly last: Effect.Effect<PastCommand | undefined>
  }
>()("@haft/exec-tools/CommandMemory") {
  static readonly layer = Layer.sync(CommandMemory, () => {
    // A caller sees its own commands only.
    const last = new Map<string | undefined, PastCommand>()
    return {
      remember: (command) => CurrentCall.useSync(({ caller }) => void last.set(caller?.name, command)),
      last: CurrentCall.useSync(({ caller }) => last.get(caller?.name))
    }
  })
}

/** The command that the caller ran last, by any tool of this host that runs commands. */
export const lastCommand: Effect.Effect<PastCommand, ToolError<"no_history">, CommandMemory> = Effect.gen(function* () {
  const { last } = yield* CommandMemory
  const found = yield* last
  if (found !== undefined) return found
  return yield* toolError("no_history", "no command has run yet", { suggestion: "Run a command first." })
})
