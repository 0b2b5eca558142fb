import { randomBytes } from "node:crypto"

import { reportDescriptor } from "@haft/core"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"

import type { BackgroundProgram, BackgroundProgramEnd } from "../background/background-program.ts"
import type { Collectors } from "../run-command/collect-output.ts"
import { MarkedOutput } from "./marked-output.ts"

/** A command that the shell has not reported the end of. */
interface Awaited {
  readonly marker: string
  readonly end: Deferred.Deferred<Reported>
  /** Its end, once everything it printed was read. */
  readonly whole: Effect.Effect<Reported>
}

/** How a command ended, as the shell reports it. */
export interface Reported {
  readonly exitCode: number
  /** Absolute directory of the shell. */
  readonly directory: string
}

/** One persistent shell: sends it commands and hears how they end. */
export class ShellProcess {
  readonly ready: Deferred.Deferred<void> = Deferred.makeUnsafe()
  /** The exit code of the shell itself; null when it was killed. */
  readonly gone: Deferred.Deferred<number | null> = Deferred.makeUnsafe()
  program: BackgroundProgram | undefined
  failure: string | undefined
  lastUsedAt = performance.now()
  #pid = 0
  #report = ""
  #collectors: Collectors | undefined
  readonly #between = { stdout: new Between(), stderr: new Between() }
  #awaited: Awaited | undefined

  readonly #stdout = new MarkedOutput((chunk) => (this.#collectors?.stdout ?? this.#between.stdout).push(chunk))
  readonly #stderr = new MarkedOutput((chunk) => (this.#collectors?.stderr ?? this.#between.stderr).push(chunk))

  readonly options = {
    onStdout: (chunk: Uint8Array): void => this.#stdout.push(chunk),
    onStderr: (chunk: Uint8Array): void => this.#stderr.push(chunk),
    onReport: (chunk: Uint8Array): void => this.#hear(Buffer.from(chunk).toString())
  }

  /** Script that the shell runs at its start. */
  begin(program: BackgroundProgram): void {
    this.program = program
    this.#send(`unset HISTFILE\n(set +H) && set +H\nprintf 'ready %s\\000' "$$" >&${reportDescriptor}`)
  }

  onEnd({ exitCode, failure }: BackgroundProgramEnd): void {
    this.failure = failure
    Deferred.doneUnsafe(this.gone, Effect.succeed(failure === undefined ? exitCode : null))
  }

  /** Output goes here from now on, with what background jobs printed since the last command first. */
  collect(collectors: Collectors | undefined): void {
    this.#stdout.flush()
    this.#stderr.flush()
    this.#collectors = collectors
    if (collectors === undefined) return
    collectors.stdout.push(this.#between.stdout.take())
    collectors.stderr.push(this.#between.stderr.take())
  }

  /** Sends a command. Its end is told once; the marker is known to nobody before that command has ended. */
  execute(command: string): Effect.Effect<Reported> {
    return Effect.suspend(() => {
      const marker = randomBytes(16).toString("hex")
      const end = Deferred.makeUnsafe<Reported>()
      const outputRead = Effect.all([this.#stdout.expect(marker), this.#stderr.expect(marker)], { concurrency: 2 })
      // A shell that was interrupted may have dropped the marks with the command.
      const whole = Effect.tap(Deferred.await(end), () => Effect.timeoutOption(outputRead, markMs))
      this.#awaited = { marker, end, whole }
      // The descriptors of the shell are closed for the command; the shell keeps copies that no program inherits.
      this.#send(`\\command eval ${quoted(command)} 0</dev/null 1>&9 2>&8 7>&- 8>&- 9>&-`)
      this.#sendReport(marker)
      this.#send(`\\command printf ${marker} >&9; \\command printf ${marker} >&8`)
      return whole
    })
  }

  /** Interrupts the command, as Ctrl-C does, and waits a moment for its end. */
  interrupt(graceMs: number): Effect.Effect<Reported | undefined> {
    return Effect.suspend(() => {
      const awaited = this.#awaited
      if (awaited === undefined) return Effect.succeed(undefined)
      this.program?.running.send(`${this.#pid}\n`)
      // Some shells drop all input with the command: asked again, they report too.
      const again = Effect.sync(() => this.#sendReport(awaited.marker)).pipe(Effect.delay(graceMs / 4))
      return awaited.whole.pipe(
        Effect.raceFirst(Effect.andThen(again, Effect.never)),
        Effect.timeoutOrElse({ duration: graceMs, orElse: () => Effect.succeed(undefined) })
      )
    })
  }

  #sendReport(marker: string): void {
    this.#send(`\\command printf '%s %s %s\\000' ${marker} "$?" "$PWD" >&${reportDescriptor}`)
  }

  #send(code: string): void {
    this.program?.running.send(`+${code.replaceAll("\n", "\n+")}\n`)
  }

  #hear(text: string): void {
    const reports = (this.#report + text).split("\0")
    this.#report = (reports.pop() ?? "").slice(-longestReport)
    for (const report of reports) {
      const [word = "", value = "", ...rest] = report.split(" ")
      if (word === "ready" && this.#pid === 0) {
        this.#pid = Number(value)
        Deferred.doneUnsafe(this.ready, Effect.void)
      }
      if (word === "gone") Deferred.doneUnsafe(this.gone, Effect.succeed(Number(value)))
      if (word === this.#awaited?.marker) {
        const reported = { exitCode: Number(value), directory: rest.join(" ") }
        Deferred.doneUnsafe(this.#awaited.end, Effect.succeed(reported))
        this.#awaited = undefined
      }
    }
  }
}

const longestReport = 16_384
/** How long the marks in the output may take after the report. */
const markMs = 1000

/** A word as a shell takes it literally. */
export const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** Output of background jobs while no command runs, in bounded memory. */
class Between {
  #chunks: Array<Uint8Array> = []
  #bytes = 0

  push(chunk: Uint8Array): void {
    const kept = new Uint8Array(chunk.subarray(0, Math.max(0, mostBetween - this.#bytes)))
    if (kept.length === 0) return
    this.#chunks.push(kept)
    this.#bytes += kept.length
  }

  take(): Uint8Array {
    const bytes = new Uint8Array(Buffer.concat(this.#chunks))
    this.#chunks = []
    this.#bytes = 0
    return bytes
  }
}

const mostBetween = 65_536
