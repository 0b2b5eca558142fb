import { constants } from "node:os"

import { type ControlFileChange, OutputLog } from "@haft/core"
import * as Effect from "effect/Effect"

import { type Feed, type NativeTerminal, type Typist, typist, type WindowSize } from "./native.ts"
import type { Recording } from "./recording.ts"
import { Screen } from "./screen.ts"

/** How a terminal's program ended. */
export interface TerminalEnd {
  /** Null when a signal ended it, and while it runs. */
  readonly exitCode: number | null
  readonly signal: string | null
}

/** A terminal as it is at one moment. */
export interface TerminalState extends TerminalEnd, WindowSize {
  readonly id: string
  /** The command line it was opened with. */
  readonly command: string
  /** Relative to the workspace. */
  readonly directory: string
  readonly isRunning: boolean
  /** Milliseconds since the epoch. */
  readonly openedAt: number
  /** The artifact that keeps what it printed. */
  readonly recording: string | null
}

export interface TerminalFacts {
  readonly id: string
  /** The command line it was opened with. */
  readonly command: string
  /** Relative to the workspace. */
  readonly directory: string
  readonly size: WindowSize
  readonly retainedBytes: number
  readonly recording: Recording | undefined
}

/** One program behind a terminal: what it printed, what was typed and how it ended. */
export class Terminal {
  readonly id: string
  readonly command: string
  readonly directory: string
  readonly recording: string | undefined
  readonly openedAt = Date.now()
  readonly output: OutputLog
  readonly screen: Screen
  /** Up to where replies have shown the output. */
  delivered = 0
  /** Text typed since the last line was sent off; shown to the approver in front of the next text. */
  pendingLine = ""
  /** When it was last seen to echo what is typed, in milliseconds since the epoch. */
  echoedAt: number | undefined
  /** Control files that its programs made or changed, as far as they were looked for. */
  controlFiles: ReadonlyArray<ControlFileChange> = []
  /** Looks for control files that its programs made or changed, and moves them aside. */
  inspect: Effect.Effect<void> = Effect.void
  lastUsedAt = performance.now()
  #lastOutputAt = performance.now()
  #size: WindowSize
  #end: TerminalEnd | undefined
  readonly #native: NativeTerminal
  readonly #typist: Typist
  readonly #recording: Recording | undefined
  readonly #listeners = new Set<() => void>()

  constructor(native: NativeTerminal, feed: Feed, facts: TerminalFacts) {
    this.id = facts.id
    this.command = facts.command
    this.directory = facts.directory
    this.recording = facts.recording?.path
    this.output = new OutputLog(facts.retainedBytes)
    this.screen = new Screen(this.output, facts.size, (text) => {
      // A program that keeps asking the terminal and never reads gets no more answers.
      if (this.unreadInput === 0) this.#send(text)
    })
    this.#size = facts.size
    this.#native = native
    this.#typist = typist(native, feed)
    this.#recording = facts.recording
    native.onData((chunk) => this.#printed(chunk))
    native.onExit(({ exitCode, signal = 0 }) =>
      this.#ended(signal === 0 ? { exitCode, signal: null } : { exitCode: null, signal: signalName(signal) })
    )
  }

  get pid(): number {
    return this.#native.pid
  }

  /** The device the program reads from, where the platform has one. */
  get device(): string | undefined {
    return this.#native.ptsName
  }

  /** Bytes that were typed and that the program left unread, beyond what the device holds. */
  get unreadInput(): number {
    return this.#typist.unreadBytes()
  }

  get size(): WindowSize {
    return this.#size
  }

  get end(): TerminalEnd | undefined {
    return this.#end
  }

  get state(): TerminalState {
    const { id, command, directory, openedAt, recording = null } = this
    const { exitCode, signal } = this.#end ?? { exitCode: null, signal: null }
    const isRunning = this.#end === undefined
    return { id, command, directory, isRunning, exitCode, signal, ...this.#size, openedAt, recording }
  }

  get lastOutputAt(): number {
    return this.#lastOutputAt
  }

  /** Types `text`, control characters included. */
  type(text: string): void {
    this.pendingLine = this.lineAfter(text)
    this.#send(text)
  }

  /** Pending line once `text` was typed. */
  lineAfter(text: string): string {
    return (this.pendingLine + text).split(lineEnd).at(-1) ?? ""
  }

  resize(size: WindowSize): void {
    if (this.#end !== undefined) return
    this.#native.resize(size.cols, size.rows)
    this.screen.resize(size)
    this.#recording?.resize(size)
    this.#size = size
  }

  /** Calls back after every output and once at the end; the returned function stops that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Waits until the program has ended. */
  get ended(): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      if (this.#end !== undefined) return resume(Effect.void)
      const stop = this.onChange(() => {
        if (this.#end === undefined) return
        stop()
        resume(Effect.void)
      })
      return Effect.sync(stop)
    })
  }

  /** Tells the program that its window was closed; shells pass that on to their jobs. */
  hangUp(): void {
    if (this.#end === undefined) this.#native.kill("SIGHUP")
  }

  /** Kills the program's own process group without waiting, for a host that has no time left. */
  killGroup(): void {
    try {
      process.kill(-this.pid, "SIGKILL")
    } catch {
      // It has ended meanwhile.
    }
  }

  /** Frees the descriptor. A program that is not over by now counts as killed. */
  release(): void {
    if (this.#end !== undefined) return
    this.#native.destroy()
    this.#ended({ exitCode: null, signal: "SIGKILL" })
  }

  #send(text: string): void {
    if (this.#end === undefined) this.#typist.type(text)
  }

  #printed(chunk: Uint8Array): void {
    this.screen.beforeOutput(chunk)
    this.output.append(chunk)
    this.#lastOutputAt = performance.now()
    this.#changed()
    this.#recording?.output(chunk)
    this.screen.afterOutput(chunk)
  }

  #ended(end: TerminalEnd): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.#changed()
  }

  #changed(): void {
    for (const listener of this.#listeners) listener()
  }
}

/** Return, newline, and the interrupt that drops a line; after a backslash or Ctrl-V the line may go on. */
const [interrupt, takeLiterally] = ["\u0003", "\u0016"]
const lineEnd = new RegExp(`(?<![\\\\${takeLiterally}])[\r\n${interrupt}]`, "u")

const signalName = (number: number): string =>
  Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `signal ${number}`
