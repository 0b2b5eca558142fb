import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"

import { type Command, Processes, type SandboxRequest, toolError, type ToolError, Workspace } from "@haft/core"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** Where a program is, or undefined. */
export const findProgram = (name: string): string | undefined =>
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((directory) => directory !== "")
    .map((directory) => join(directory, name))
    .find(isExecutable)

/** Succeeds if a command really runs in the sandbox; tried with the first use, and again only after a failure. */
export const probed = Effect.fnUntraced(function* (
  kind: string,
  program: string | undefined,
  wrap: (command: Command, request?: SandboxRequest) => Command
) {
  const processes = yield* Processes
  const { root } = yield* Workspace
  const [works, forget] = yield* Effect.cachedInvalidateWithTTL(
    program === undefined
      ? unavailable(kind, "it is not installed")
      : // Not before somebody asks: wrapping opens files, and a host may never run a command.
        Effect.suspend(() => {
          const command = wrap({ program: "/bin/sh", args: ["-c", "exit 42"], directory: root, env: {} })
          return processes.run(command, { timeoutMs: 20_000 })
        }).pipe(
          Effect.catch((error) => unavailable(kind, error.message)),
          Effect.flatMap(({ exitCode }) =>
            exitCode === 42 ? Effect.void : unavailable(kind, "a command that should have run in it did not")
          )
        ),
    Duration.infinity
  )
  return Effect.tapError(works, () => forget)
})

export const unavailable = (kind: string, reason: string): Effect.Effect<never, ToolError<"sandbox_unavailable">> =>
  toolError("sandbox_unavailable", `the sandbox ${kind} does not work on this machine: ${reason}`, {
    suggestion:
      "Install bubblewrap, or start docker or podman; `haft doctor` shows what works. The sandbox none has to be chosen explicitly.",
    details: { sandbox: kind }
  })

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
