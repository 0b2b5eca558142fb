import type { Command, ControlFileChange, RunErrorCode, ToolError } from "@haft/core"
import type * as Effect from "effect/Effect"

/** Limits on a process tree as a sum. */
export interface TreeLimits {
  readonly memoryBytes: number
  readonly processes: number
}

/** Launch data for this package's Processes about a command that a sandbox wrapped. */
export interface LaunchOptions {
  /** Contents of files to hand over open, as descriptors 3, 4, …. They have no names, and exist once the program starts. */
  readonly files?: ReadonlyArray<string | Uint8Array>
  /**
   * The program is a sandbox's launcher, and ending it ends all that it started. It gets two descriptors after the
   * others: on the second it says `ready` when everything is shut, on the first it waits for `go` before the command
   * starts (anything else ends it), and on the second it says `end CODE LEFT` when that is over: how it ended, how many
   * processes it left. A line of any other kind before that one says that a signal ended it.
   */
  readonly gated?: boolean
  /** Resource limits, where the machine lets the host apply them to a whole process tree. */
  readonly limits?: TreeLimits
  /** Cleanup of what ending the process does not reach, such as a container: runs whenever the process tree is killed. */
  readonly alsoKill?: Effect.Effect<void>
  /** That cleanup as a program with its arguments, for when the host itself is killed. */
  readonly ifHostDies?: ReadonlyArray<string>
  /** Where it tells of a signal only by exiting with 128 + its number: such a code counts as the signal. */
  readonly signalsAsCodes?: boolean
  /** Tells a launcher's own failure from the command's, by its exit code and the beginning of what it printed as errors. */
  readonly failure?: (exitCode: number | null, stderr: string) => ToolError<RunErrorCode> | undefined
  /** Called just before the program is started. */
  readonly onStart?: () => void
  /** Runs once the process is gone, however it ended. */
  readonly afterEnd?: Effect.Effect<void>
  /** Looks for control files that the command made or changed, once the process is gone. */
  readonly inspect?: Effect.Effect<ReadonlyArray<ControlFileChange>>
  /** Does so while the process runs. */
  readonly inspectRunning?: Effect.Effect<ReadonlyArray<ControlFileChange>>
}

/** The handle of a wrapped command. */
class PreparedLaunch {
  readonly options: LaunchOptions
  constructor(options: LaunchOptions) {
    this.options = options
  }
}

/** A command with what its launch needs. */
export const withLaunch = (command: Command, options: LaunchOptions): Command => ({
  ...command,
  handle: new PreparedLaunch({ ...launchOf(command), ...options })
})

/** Launch data that a sandbox of this package prepared for a command; undefined for any other command. */
export const launchOf = ({ handle }: Command): LaunchOptions => (handle instanceof PreparedLaunch ? handle.options : {})
