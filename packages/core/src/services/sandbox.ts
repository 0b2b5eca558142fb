import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

import { type ToolError, toolError } from "../tool-error.ts"
import type { ChangePlan } from "./change-plan.ts"
import type { Command, ControlFileChange } from "./processes.ts"
import type { PlanError } from "./workspace.ts"

/** Permissions of one command beyond the sandbox's defaults. */
export interface SandboxRequest {
  /** The command reaches the hosts that the host's {@link Network} policy admits. Off by default. */
  readonly network?: boolean
  /** The command line as people know it, for questions about its connections. A shell's changes with each command. */
  readonly title?: string | (() => string)
  /** The workspace can be changed; false mounts it read-only. True by default. */
  readonly writable?: boolean
  /** The command gets a control channel: descriptors beyond standard error must reach it. */
  readonly channel?: boolean
  /** The command gets a terminal, so it needs job control. */
  readonly terminal?: boolean
  /** The command works on this overlay: what it writes does not reach the workspace. */
  readonly overlay?: Overlay
}

/**
 * A copy-on-write layer over the workspace that takes all that one command writes. It is gone when its scope ends.
 */
export interface Overlay {
  /** Reads what the command changed, once it has ended. */
  readonly effects: Effect.Effect<CommandEffects, ToolError<"sandbox_error">>
}

/** Everything that a command changed in its overlay. Nothing of it is in the workspace yet. */
export interface CommandEffects {
  /**
   * Plans the changes, without those at the paths of `except`. A path that was changed in the workspace too, since the
   * command began, is `stale_file`.
   */
  readonly plan: (plan: ChangePlan, except?: ReadonlySet<string>) => Effect.Effect<void, PlanError>
  /** Control files among the changes that other programs would run or trust. */
  readonly controlFiles: ReadonlyArray<ControlFileChange & { readonly isRecordedOnly: boolean }>
  /** Moves control files out of the overlay, and says where to. */
  readonly quarantine: (paths: ReadonlySet<string>) => Effect.Effect<ReadonlyArray<ControlFileChange>>
  /** Changes that can't be committed: sockets, pipes, names that are not UTF-8. */
  readonly leftOut: ReadonlyArray<LeftOutPath>
  /** True for a path that the workspace's `.gitignore` files name: build output. */
  readonly isIgnored: (path: string, isDirectory?: boolean) => boolean
}

/** A path that an overlay holds and a commit can't take over. */
export interface LeftOutPath {
  /** Bytes that are not UTF-8 are escaped. */
  readonly path: string
  readonly reason: string
}

/** Protections that a sandbox really enforces on this machine, for replies and for `haft doctor`. */
export interface SandboxDescription {
  readonly kind: string
  /** False for `none`: replies and records say that nothing held the command back. */
  readonly isolated: boolean
  readonly enforced: ReadonlyArray<string>
  readonly notEnforced: ReadonlyArray<UnheldLimit>
  /** Why commands can't run on an overlay here; absent where they can. */
  readonly noOverlay?: string
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
    /** A new overlay of the workspace, for one command. Absent where a sandbox has none. */
    readonly overlay?: Effect.Effect<Overlay, ToolError<"sandbox_unavailable" | "sandbox_error">, Scope.Scope>
  }
>()("@haft/core/Sandbox") {}

/** For a sandbox that has no overlays. */
export const withoutOverlay: Effect.Effect<never, ToolError<"sandbox_unavailable">> = toolError(
  "sandbox_unavailable",
  "this sandbox can't run commands on an overlay",
  { suggestion: 'Set `overlay` of the exec package to "auto" or "never".' }
)

/** No sandbox: every command is refused. */
export const refuseCommands: Layer.Layer<Sandbox> = Layer.sync(Sandbox, () => {
  const refused: Effect.Effect<never, ToolError<"sandbox_unavailable">> = toolError(
    "sandbox_unavailable",
    "this host has no sandbox, so commands do not run",
    { suggestion: "Give the host a sandbox, or choose the sandbox none explicitly." }
  )
  return { wrap: () => refused, describe: refused }
})
