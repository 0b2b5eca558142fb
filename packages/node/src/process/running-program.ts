import { setImmediate, setTimeout as sleep } from "node:timers/promises"

import {
  type Command,
  type ControlFileChange,
  makeToolError,
  type ProcessEnd,
  type ProcessMark,
  type RunningProcess,
  type RunOptions,
  type ToolError
} from "@haft/core"
import * as Effect from "effect/Effect"

import { isErrno } from "../errno.ts"
import { findProgram } from "./find-program.ts"
import { treeListensOn } from "./listening-port.ts"
import { launchOf, type LaunchOptions } from "./prepared-launch.ts"
import { childrenOf, countCarriers, thisMoment } from "./process-table.ts"
import { endTree, graceMs } from "./process-tree.ts"
import { Cancelled, type End, endOf, type Start, type Started } from "./started.ts"

/** How long the end of a program that was killed is waited for. Only one stuck in the kernel needs it. */
const giveUpMs = 3000
/** After the end of a program, for what is still in the pipes. */
const drainMs = 100

/** One program from its start to its end, with all that comes from it. */
export class RunningProgram {
  readonly #start: Start
  readonly #mark: ProcessMark
  readonly #command: Command
  readonly #launch: LaunchOptions
  readonly #options: RunOptions
  readonly #ended = Promise.withResolvers<void>()
  #started: Started | undefined
  #isStopped = false
  #ending: Promise<void> | undefined
  #isOpen = false
  #launcherSays = ""
  #missing: string | undefined
  #hasRemarked = false
  #report: { readonly end: End; readonly left: number } | undefined
  readonly #since = thisMoment()

  constructor(start: Start, mark: ProcessMark, command: Command, options: RunOptions) {
    this.#start = start
    this.#mark = mark
    this.#command = command
    this.#launch = launchOf(command)
    this.#options = options
  }

  async run(): Promise<ProcessEnd> {
    const began = performance.now()
    let timedOut = false
    const { timeoutMs } = this.#options
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => {
            timedOut = true
            void this.stop()
          }, timeoutMs)
    let controlFiles: ReadonlyArray<ControlFileChange> = []
    let end: Omit<ProcessEnd, "timedOut">
    try {
      const { exitCode, signal, leftRunning } = await this.#live()
      end = { exitCode, signal, durationMs: performance.now() - began, leftRunning }
    } finally {
      clearTimeout(timer)
      this.#started?.release()
      // The numbers of its processes may belong to others from here on: nothing must be signalled any more.
      this.#started = undefined
      try {
        controlFiles = await cleanUp(this.#launch)
        if (controlFiles.length > 0) this.#options.onControlFiles?.(controlFiles)
      } finally {
        this.#ended.resolve()
      }
    }
    return { ...end, timedOut, ...(controlFiles.length > 0 && { controlFiles }) }
  }

  /** Ends the program and all that came from it. */
  async stop(): Promise<void> {
    this.#isStopped = true
    if (this.#started !== undefined) await this.#endAll(this.#started)
    await this.#ended.promise
  }

  async #live(): Promise<Omit<ProcessEnd, "timedOut" | "durationMs">> {
    const command = { ...this.#command, program: findProgram(this.#command) }
    this.#launch.onStart?.()
    this.#started = await this.#start({
      command,
      mark: this.#mark,
      onStdout: (chunk) => this.#options.onStdout?.(chunk),
      onStderr: (chunk) => this.#hearStderr(chunk),
      onGate: (line) => this.#hearGate(line),
      onReport: this.#options.onReport,
      isCancelled: () => this.#isStopped,
      addressSpaceBytes: this.#options.addressSpaceBytes
    }).catch((cause: unknown) => {
      if (cause instanceof Cancelled) return undefined
      throw couldNotStart(command, cause)
    })
    if (this.#started === undefined) return { exitCode: null, signal: "SIGTERM", leftRunning: 0 }
    const started = this.#started
    if (this.#isStopped) await this.#endAll(started)
    else this.#options.onStarted?.(this.#handle(started))
    const end = await started.end
    const allRead = Promise.all(
      [...started.streams, ...(started.gate === undefined ? [] : [started.gate])].map(({ ended }) => ended)
    )
    await Promise.race([allRead, sleep(drainMs, undefined, unheld)])
    // On a busy machine the time can be over before anybody has looked at the pipes. What the program wrote is in
    // them, and one look reads all that a pipe holds.
    await Promise.race([allRead, setImmediate()])
    await this.#ending
    const leftRunning = this.#isStopped || isUnknown(end) ? 0 : await this.#left(started)
    for (const stream of started.streams) {
      if (leftRunning > 0 && this.#launch.gated !== true) stream.letRun()
      else stream.close()
    }
    if (isUnknown(end) && this.#report === undefined && !this.#isStopped) {
      await this.#endAll(started)
      throw makeToolError("sandbox_error", "the command was ended because its supervisor process was killed")
    }
    if (this.#missing !== undefined) {
      throw makeToolError("command_not_found", `there is no program '${this.#missing}' in the sandbox`)
    }
    if (this.#launch.gated === true && !this.#isOpen && !this.#isStopped) throw this.#notShut(end.exitCode)
    const failure = this.#isStopped ? undefined : this.#launch.failure?.(end.exitCode, this.#launcherSays)
    if (failure !== undefined) throw failure
    return { ...this.#endFrom(end), leftRunning }
  }

  #handle({ send, root }: Started): RunningProcess {
    return {
      send: (text) => send?.(text),
      stop: Effect.promise(() => this.stop()),
      listensOn: (port) => Effect.promise(() => treeListensOn({ pid: root, mark: this.#mark }, port, this.#since))
    }
  }

  #endFrom(end: End): End {
    if (this.#isStopped) return end
    if (this.#launch.signalsAsCodes === true && end.exitCode !== null) return endOf(end.exitCode, true)
    return this.#report?.end ?? end
  }

  #endAll(started: Started): Promise<void> {
    return (this.#ending ??= this.#end(started))
  }

  async #end(started: Started): Promise<void> {
    const { gated = false, alsoKill } = this.#launch
    // Behind a closed gate nothing of the command's own runs yet, so nothing needs a grace.
    const isQuick = gated && !this.#isOpen
    if (isQuick) started.gate?.refuse()
    const tree = { pid: started.root, mark: this.#mark }
    const deadline = performance.now() + giveUpMs
    for (let round = 0; round < 5 || performance.now() < deadline; round++) {
      await endTree(tree, {
        graceMs: isQuick || round > 0 ? 0 : graceMs,
        spared: started.spared,
        since: this.#since,
        // Without its launcher a sandbox falls at once, and nobody inside would have any time.
        lastToGo: gated ? childrenOf(started.root) : []
      })
      // A process that was just being started may have been missed: again, until the program itself has ended.
      if (await Promise.race([started.end.then(() => true), sleep(5, false)])) break
    }
    if (alsoKill !== undefined) await Effect.runPromise(alsoKill)
  }

  async #left({ root }: Started): Promise<number> {
    if (this.#launch.gated === true) return this.#report?.left ?? 0
    const { name, value } = this.#mark
    return countCarriers(`${name}=${value}`, this.#since, root)
  }

  #hearStderr(chunk: Uint8Array): void {
    const { gated = false, failure } = this.#launch
    const isLaunchers = gated && !this.#isOpen
    if (!isLaunchers) this.#options.onStderr?.(chunk)
    if ((isLaunchers || failure !== undefined) && this.#launcherSays.length < 2000) {
      this.#launcherSays += Buffer.from(chunk.subarray(0, 2000)).toString()
    }
  }

  #hearGate(line: string): void {
    const [word] = line.split(" ")
    // A command can write here, too.
    const [, code, left] = /^end (\d{1,3}) (\d{1,9})$/.exec(line) ?? []
    if (word === "missing" && !this.#isOpen) this.#missing = line.slice("missing ".length)
    if (code !== undefined) this.#report = { end: endOf(Number(code), this.#hasRemarked), left: Number(left) }
    if (word === "ready" && !this.#isOpen && this.#started !== undefined && !this.#isStopped) {
      this.#isOpen = true
      this.#started.gate?.open()
    }
    this.#hasRemarked = this.#isOpen && word !== "ready"
  }

  #notShut(exitCode: number | null): ToolError<"sandbox_error"> {
    const said = this.#launcherSays.trim().split("\n")[0] ?? ""
    return makeToolError(
      "sandbox_error",
      `the sandbox could not be set up: ${said || `its launcher ended with ${exitCode}`}`,
      {
        suggestion: "Check what works on this machine with `haft doctor`."
      }
    )
  }
}

/** Frees what was prepared for a command, once nothing of it runs. */
export const cleanUp = ({ afterEnd, inspect }: LaunchOptions): Promise<ReadonlyArray<ControlFileChange>> => {
  const inspected = inspect ?? Effect.succeed([])
  return Effect.runPromise(afterEnd === undefined ? inspected : Effect.ensuring(inspected, afterEnd))
}

const unheld = { ref: false }

const isUnknown = ({ exitCode, signal }: End): boolean => exitCode === null && signal === null

const couldNotStart = (command: Command, cause: unknown): unknown => {
  if (isErrno(cause, "ENOENT"))
    return makeToolError("command_not_found", `there is no program '${command.program}' here`)
  if (isErrno(cause, "EACCES")) return makeToolError("permission_denied", `'${command.program}' is not executable`)
  return cause
}
