import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { type ToolError, toolError } from "../tool-error.ts"
import type { Command } from "./processes.ts"

/** What one command may do beyond the sandbox's defaults. */
export interface SandboxRequest {
  /** The command reaches the hosts that the host's {@link Network} policy admits. Off by default. */
  readonly network?: boolean
  /** The command line as people know it, for questions about its connections. */
  readonly title?: string
  /** The workspace can be changed; false mounts it read-only. True by default. */
  readonly writable?: boolean
  /** The command gets a control channel: descriptors beyond standard error must reach it. */
  readonly channel?: boolean
  /** The command gets a terminal, so it needs job control. */
  readonly terminal?: boolean
}

/** What a sandbox really enforces on this machine, for replies and for `haft doctor`. */
export interface SandboxDescription {
  readonly kind: string
  /** False for `none`: replies and records say that nothing held the command back. */
  readonly isolated: boolean
  readonly enforced: ReadonlyArray<string>
  readonly notEnforced: ReadonlyArray<UnheldLimit>
}

/** A limit that nothing holds commands to here. */
export interface UnheldLimit {
  readonly limit: string
  /** How it would be held, where that can be had. */
  readonly mend?: string
}

/** Turns a command into a safer command: argv in, argv out. */
export class Sandbox extends Context.Service<
  Sandbox,
  {
    readonly wrap: (
      command: Command,
      request?: SandboxRequest
    ) => Effect.Effect<Command, ToolError<"sandbox_unavailable" | "sandbox_error">>
    readonly describe: Effect.Effect<SandboxDescription, ToolError<"sandbox_unavailable">>
  }
>()("@haft/core/Sandbox") {}

/** No sandbox: every command is refused. */
export const refuseCommands: Layer.Layer<Sandbox> = Layer.sync(Sandbox, () => {
  const refused: Effect.Effect<never, ToolError<"sandbox_unavailable">> = toolError(
    "sandbox_unavailable",
    "this host has no sandbox, so commands do not run",
    { suggestion: "Give the host a sandbox, or choose the sandbox none explicitly." }
  )
  return { wrap: () => refused, describe: refused }
})
