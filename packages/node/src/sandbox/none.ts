import { homedir, tmpdir } from "node:os"

import { type Command, isToolError, makeToolError, Sandbox, type SandboxRequest, type ToolError } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { findProgram, thisMachine } from "../process/find-program.ts"
import { findPowershell, powershellWords } from "../process/windows-programs.ts"
import { environmentFor } from "./environment.ts"

/** No isolation at all, by explicit choice: a command starts in the workspace and can do what the host's user can. */
export const noSandbox = (options: { readonly environment?: ReadonlyArray<string> } = {}): Layer.Layer<Sandbox> =>
  Layer.succeed(Sandbox, {
    wrap: (command, request = {}) =>
      Effect.suspend(() => {
        const env = environmentFor(command.env, request, {
          names: options.environment ?? [],
          home: homedir(),
          temporary: tmpdir()
        })
        return process.platform === "win32"
          ? onWindows({ ...command, env }, request)
          : Effect.succeed({ ...command, env })
      }),
    describe: Effect.succeed({
      kind: "none",
      isolated: false,
      enforced: ["the time limit", "the whole process tree ends with the call or the host"],
      noOverlay: "the sandbox none has no overlays",
      notEnforced: ["network", "files", "memory", "processes", "everything else"].map((limit) => ({ limit }))
    })
  })

/** Picks the shell on Windows: a line of a POSIX shell runs in Git's, and in PowerShell where there is none. */
const onWindows = (command: Command, request: SandboxRequest): Effect.Effect<Command, ToolError<"sandbox_error">> =>
  Effect.try({
    try: () => {
      if (request.channel === true) {
        throw makeToolError("sandbox_error", "a shell can't be kept open between calls on Windows", {
          suggestion: "Run each command with run_command, or open a terminal. In WSL haft keeps shells open."
        })
      }
      if (command.line === undefined) return command
      return { ...command, ...shellFor(command, command.line) }
    },
    catch: (cause) =>
      isToolError(cause) ? (cause as ToolError<"sandbox_error">) : makeToolError("sandbox_error", String(cause))
  })

const shellFor = (command: Command, line: string): Pick<Command, "program" | "args"> => {
  try {
    return { program: findProgram(command), args: command.args }
  } catch (error) {
    const powershell = findPowershell(thisMachine)
    if (powershell !== undefined) return { program: powershell, args: powershellWords(line) }
    if (isToolError(error)) throw makeToolError("sandbox_error", error.message, { suggestion: error.suggestion ?? "" })
    throw error
  }
}
