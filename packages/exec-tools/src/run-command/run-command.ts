import { constants } from "node:os"

import {
  type Command,
  commitEffects,
  type CommittedEffects,
  type ControlFileChange,
  CurrentCall,
  type Facts,
  Journal,
  type Overlay,
  pathOnDisk,
  type ProcessEnd,
  Processes,
  reportProgress,
  requireNetwork,
  Sandbox,
  toolError,
  type ToolError,
  type Touches,
  Workspace
} from "@haft/core"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

import { CommandMemory } from "../last-command/last-command.ts"
import { ExecSettings } from "../settings.ts"
import { checkWords } from "./check-words.ts"
import { collectOutput, type Collectors, type Output } from "./collect-output.ts"
import { onlyReads } from "./reading-commands.ts"

/** Node's timers count no further. */
const longestTimeoutMs = 2 ** 31 - 1

export interface CommandRequest {
  /** How the command is called in replies and in the record. */
  readonly command: string
  /** The program and its arguments. */
  readonly words: ReadonlyArray<string>
  /** The command line, where the words make a shell run one. */
  readonly line?: string
  readonly directory?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  /** The host's default when absent. */
  readonly timeoutMs?: number | undefined
  readonly stdin?: string | undefined
  readonly network?: boolean
  readonly writable?: boolean
  /** Fate of its changes where it fails, times out or is cancelled; they are committed by default. */
  readonly onFailure?: "commit" | "drop"
}

/** Everything there is to know about a command that ran. */
export interface CommandOutcome {
  /** 128 + number where a signal ended it. */
  readonly exitCode: number
  readonly signal: string | null
  readonly timedOut: boolean
  readonly timeoutMs: number
  readonly durationMs: number
  readonly stdout: Output
  readonly stderr: Output
  /** Processes that were still there when the command ended. In a sandbox they end with it. */
  readonly leftRunning: number
  /** The program that the shell did not find, where that is why it failed. */
  readonly notFound?: string
  readonly sandbox: { readonly kind: string; readonly isolated: boolean }
  /** Control files that it made or changed. */
  readonly controlFiles: ReadonlyArray<ControlFileChange>
  /** Outcome of its changes; absent where it wrote to the workspace directly. */
  readonly effects?: CommittedEffects
  /** Why it wrote to the workspace itself. */
  readonly noOverlay?: string
}

/** Runs a program in the sandbox. A failing command is an outcome; a command that could not run is an error. */
export const runCommand = Effect.fnUntraced(function* (request: CommandRequest) {
  yield* checkWords(request)
  const settings = yield* ExecSettings
  yield* requireNetwork(request.network === true)
  const workspace = yield* Workspace
  const directory = yield* workspace.contain(request.directory ?? ".")
  if ((yield* workspace.info(directory)).kind !== "directory") {
    return yield* toolError("not_a_directory", `${request.directory} is not a directory`, {
      details: { path: request.directory }
    })
  }
  const startedAt = yield* Clock.currentTimeMillis
  const collectors = yield* collectOutput(settings.artifactBytes)
  const timeoutMs = Math.min(request.timeoutMs ?? settings.defaultTimeoutMs, longestTimeoutMs)
  const run = yield* runInSandbox(request, pathOnDisk(workspace, directory), timeoutMs, collectors)
  const outcome = outcomeOf(run, timeoutMs, collectors)
  const memory = yield* CommandMemory
  yield* memory.remember({ ...outcome, command: request.command, directory, startedAt })
  return outcome
}, Effect.scoped)

/** Description of a command line for models: names the shell that it is written for. */
export const commandLineFor: string =
  process.platform === "win32"
    ? "Command line for Git's bash; for PowerShell where Git is not installed"
    : "Command line for bash"

/** The words that make a shell run a command line. */
export const shellWords = (command: string): ReadonlyArray<string> => ["sh", "-c", findBash, "sh", command]

// bash where there is one: what models write is written for it. The space is for a command that begins with a hyphen:
// shells take options after `-c` too, and not all know what ends them.
const findBash = `command -v bash >/dev/null && exec bash -c " $1"; exec sh -c " $1"`

/**
 * Touches of a command. One that asks for a network it will not get is refused before anybody is asked about it.
 * Says how the sandbox here confines it, so that a policy can tell a command that is held from one that is not.
 */
export const commandTouches = Effect.fnUntraced(function* (
  touches: Touches,
  { readOnly = false, mayOverlay = false }: { readonly readOnly?: boolean; readonly mayOverlay?: boolean } = {}
): Effect.fn.Return<Touches, ToolError<"approval_denied">, ExecSettings | Sandbox> {
  yield* requireNetwork(touches.network === true)
  const { describe } = yield* Sandbox
  const { isolated, noOverlay } = yield* Effect.orElseSucceed(describe, () => ({ isolated: false, noOverlay: "" }))
  if (!isolated) return touches
  if (readOnly) return { ...touches, confined: "read_only" }
  const { overlay } = mayOverlay ? yield* Effect.orElseSucceed(chooseOverlay(noOverlay), () => directly) : directly
  return { ...touches, confined: overlay ? "overlay" : "workspace" }
})

/** A command of haft's own dialect is asked about, unless the host asks about what it changed instead. */
export const asksBeforehand = ({ confined, network }: Facts): Effect.Effect<boolean, never, ExecSettings> =>
  ExecSettings.useSync(({ approveEffects }) => !approveEffects || confined !== "overlay" || network === true)

interface SandboxedRun {
  readonly end: ProcessEnd
  readonly sandbox: CommandOutcome["sandbox"]
  readonly controlFiles: ReadonlyArray<ControlFileChange>
  readonly effects?: CommittedEffects
  readonly noOverlay?: string
}

const runInSandbox = Effect.fnUntraced(function* (
  request: CommandRequest,
  directory: string,
  timeoutMs: number,
  { stdout, stderr }: Collectors
) {
  const { words, line, env = {}, stdin, network = false, writable: mayWrite = true } = request
  const [program = "", ...args] = words
  const command: Command = {
    program,
    args,
    directory,
    env,
    ...(line !== undefined && { line }),
    ...(stdin !== undefined && { stdin })
  }
  const sandbox = yield* Sandbox
  const { kind, isolated, noOverlay } = yield* sandbox.describe
  const chosen = mayWrite ? yield* chooseOverlay(noOverlay) : directly
  // Where an overlay is wanted in any case, it is had; a sandbox that does not isolate can't keep a command from writing.
  const isReading = chosen.overlay && isolated && (yield* ExecSettings).overlay === "auto" && onlyReads(request.command)
  const choice = isReading ? readOnly : chosen
  const writable = mayWrite && !isReading
  yield* recordSandbox({ kind, isolated, ...choice })
  const run = (overlay?: Overlay) =>
    Effect.flatMap(
      sandbox.wrap(command, { network, writable, title: request.command, ...(overlay && { overlay }) }),
      (wrapped) => runWatched(wrapped, { timeoutMs, stdout, stderr })
    )
  if (!choice.overlay || sandbox.overlay === undefined) {
    const { end, controlFiles } = yield* run()
    return { end, sandbox: { kind, isolated }, controlFiles, ...withReason(choice.no_overlay) } satisfies SandboxedRun
  }
  const { end, effects } = yield* runOnOverlay(yield* sandbox.overlay, request.onFailure === "drop", run)
  return { end, sandbox: { kind, isolated }, controlFiles: effects.controlFiles, effects } satisfies SandboxedRun
})

/** Runs a command on an overlay, and commits what it changed, however it ended. */
const runOnOverlay = <E, R>(
  overlay: Overlay,
  dropsFailures: boolean,
  run: (overlay: Overlay) => Effect.Effect<{ readonly end: ProcessEnd }, E, R>
) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const { approval } = yield* CurrentCall
      const { approveEffects } = yield* ExecSettings
      const asks = approveEffects && approval?.facts.confined === "overlay" && approval.facts.network !== true
      const exit = yield* Effect.exit(restore(run(overlay)))
      if (Exit.isFailure(exit)) {
        // Nobody waits any more, so nobody is asked. A command that never ran has changed nothing.
        const commit = Effect.flatMap(overlay.effects, (effects) =>
          commitEffects(effects, { isDropped: dropsFailures, canAsk: false, asks })
        )
        if (Cause.hasInterrupts(exit.cause)) yield* Effect.ignore(Effect.tap(commit, recordHeldBack))
        return yield* Effect.failCause(exit.cause)
      }
      const { end } = exit.value
      const isFailure = end.timedOut || end.exitCode !== 0
      const situation = { isDropped: dropsFailures && isFailure, canAsk: approval?.canAsk ?? false, asks }
      const effects = yield* restore(Effect.flatMap(overlay.effects, (found) => commitEffects(found, situation)))
      yield* recordHeldBack(effects)
      return { end, effects }
    })
  )

const recordHeldBack = ({ controlFiles }: CommittedEffects) => recordControlFiles(controlFiles)

const runWatched = Effect.fnUntraced(function* (
  command: Command,
  { timeoutMs, stdout, stderr }: Collectors & { readonly timeoutMs: number }
) {
  const processes = yield* Processes
  let controlFiles: ReadonlyArray<ControlFileChange> = []
  const onControlFiles = (changes: ReadonlyArray<ControlFileChange>): void => void (controlFiles = changes)
  const run = processes.run(command, { timeoutMs, onStdout: stdout.push, onStderr: stderr.push, onControlFiles })
  const end = yield* Effect.raceFirst(
    run,
    signsOfLife(() => stdout.lastLine() || stderr.lastLine())
  ).pipe(
    // Also of a command that was cancelled. The files are moved already, and their record lies beside them.
    Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : Effect.ignore(recordControlFiles(controlFiles))))
  )
  yield* recordControlFiles(controlFiles)
  return { end, controlFiles }
})

interface OverlayChoice {
  readonly overlay: boolean
  readonly no_overlay?: string
}

const directly: OverlayChoice = { overlay: false }

const readOnly: OverlayChoice = { overlay: false, no_overlay: "the command only reads, and had a read-only workspace" }

const withReason = (noOverlay: string | undefined): { readonly noOverlay?: string } =>
  noOverlay === undefined ? {} : { noOverlay }

/** Decides whether a command runs on an overlay, by the host's settings and what the machine can. */
const chooseOverlay = (
  noOverlay: string | undefined
): Effect.Effect<OverlayChoice, ToolError<"sandbox_unavailable">, ExecSettings | Sandbox> =>
  Effect.gen(function* () {
    const { overlay: wanted } = yield* ExecSettings
    const { overlay } = yield* Sandbox
    if (wanted === "never") return { overlay: false, no_overlay: "the host's settings say never" }
    if (noOverlay === undefined && overlay !== undefined) return { overlay: true }
    if (wanted === "auto") return { overlay: false, ...(noOverlay !== undefined && { no_overlay: noOverlay }) }
    const reason = noOverlay ?? "this sandbox has none"
    return yield* toolError("sandbox_unavailable", `commands can't run on an overlay here: ${reason}`, {
      suggestion: 'Set `overlay` of the exec package to "auto" or "never".'
    })
  })

// Contracts have no field for it, so that a command ran without a sandbox must at least be on record.
export const recordSandbox = Effect.fnUntraced(function* (sandbox: CommandOutcome["sandbox"] & Partial<OverlayChoice>) {
  const journal = yield* Journal
  const { id, step, tool } = yield* CurrentCall
  yield* journal.append({ type: "sandbox_chosen", request_id: id, step, tool, ...sandbox })
})

export const recordControlFiles = Effect.fnUntraced(function* (files: ReadonlyArray<ControlFileChange>) {
  if (files.length === 0) return
  const journal = yield* Journal
  const { id, step, tool } = yield* CurrentCall
  yield* journal.append({ type: "control_files_changed", request_id: id, step, tool, files })
})

export const signsOfLife = Effect.fnUntraced(function* (lastLine: () => string) {
  for (let seconds = 1; ; seconds++) {
    yield* Effect.sleep("1 second")
    yield* reportProgress({ message: lastLine() || `running for ${seconds} s`, done: seconds })
  }
})

const outcomeOf = (
  { end, sandbox, controlFiles, effects, noOverlay }: SandboxedRun,
  timeoutMs: number,
  collectors: Collectors
): CommandOutcome => {
  const { exitCode, signal, timedOut, durationMs, leftRunning } = end
  const stderr = collectors.stderr.finish()
  const missing = exitCode === 127 ? missingProgram.exec(stderr.text) : null
  const notFound = missing?.[1] ?? missing?.[2]
  return {
    exitCode: exitCode ?? 128 + (constants.signals[signal as keyof typeof constants.signals] ?? 0),
    signal,
    timedOut,
    timeoutMs,
    durationMs: Math.round(durationMs),
    stdout: collectors.stdout.finish(),
    stderr,
    leftRunning,
    sandbox,
    controlFiles,
    ...(effects !== undefined && { effects }),
    ...withReason(noOverlay),
    ...(notFound !== undefined && { notFound })
  }
}

// `bash: line 1: nope: command not found`, `sh: 1: nope: not found`, `bash: line 1: ./nope: No such file or directory`,
// `zsh:1: command not found: nope`, `fish: Unknown command: nope`
const missingProgram =
  /^\S*sh:(?:\d+:)? (?:line )?(?:\d+: )?(?:(?:command not found|no such file or directory|Unknown command): (.+)|(.+?): (?:command not found|not found|No such file or directory))$/m
