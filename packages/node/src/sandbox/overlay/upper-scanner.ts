import type { ChildProcess } from "node:child_process"

import { makeToolError, reasonOf, type ToolError } from "@haft/core"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"

import { overlayScan } from "../../embedded-scripts.ts"
import { requiredProgram } from "../../process/system-programs.ts"
import { parseListing, type Upper } from "./upper.ts"

/** An upper directory to list. */
export interface UpperRequest {
  readonly upper: string
  /** The workspace's directory. */
  readonly lower: string
  /** `strip` removes the overlay's own extended attributes from files on the way. */
  readonly attributes: "strip" | "keep"
}

/**
 * Lists upper directories with one perl process, since Node reads no extended attributes. It starts with the first overlay
 * and stays, because a start of its own would take longer than most listings.
 */
export interface UpperScanner {
  /** Starts the process while a command runs, so that the listing does not wait for it. */
  readonly prepare: Effect.Effect<void>
  readonly read: (request: UpperRequest) => Effect.Effect<Upper, ToolError<"sandbox_error">>
}

/** Makes a scanner, whose process ends with the scope. */
export const upperScanner: Effect.Effect<UpperScanner, never, Scope.Scope> = Effect.gen(function* () {
  const turn = yield* Semaphore.make(1)
  const state: { process?: ScanProcess } = {}
  const ready = (): ScanProcess => {
    if (state.process?.hasEnded !== false) state.process = new ScanProcess()
    return state.process
  }
  yield* Effect.addFinalizer(() => Effect.sync(() => state.process?.end()))
  return {
    // A failure shows with the listing.
    prepare: Effect.ignore(Effect.try(ready)),
    read: (request) =>
      turn
        .withPermit(
          Effect.callback<Buffer, ToolError<"sandbox_error">>((resume) => {
            const process = ready()
            process.list(request, (result) =>
              resume(result instanceof Error ? notRead(result) : Effect.succeed(result))
            )
            // The rest of the answer belongs to nobody.
            return Effect.sync(() => process.end())
          })
        )
        .pipe(Effect.map(parseListing))
  }
})

/** Lists one upper directory with a process of its own. */
export const readUpper = (request: UpperRequest): Effect.Effect<Upper, ToolError<"sandbox_error">> =>
  Effect.scoped(Effect.flatMap(upperScanner, ({ read }) => read(request)))

const notRead = (cause: unknown): Effect.Effect<never, ToolError<"sandbox_error">> =>
  Effect.fail(
    makeToolError(
      "sandbox_error",
      `what the command changed could not be read: ${reasonOf(cause)}; nothing was changed`
    )
  )

/** More is not listed: a command that makes so many files is refused. */
const mostBytes = 512 * 1024 * 1024

/** See overlay-scan.pl. */
class ScanProcess {
  readonly #child: ChildProcess
  #chunks: Array<Buffer> = []
  #bytes = 0
  #done: ((result: Buffer | Error) => void) | undefined
  hasEnded = false

  constructor() {
    const { spawn } = process.getBuiltinModule("node:child_process")
    const args = ["-e", overlayScan, "--", process.arch]
    this.#child = spawn(requiredProgram("perl"), args, { cwd: "/", env: {}, stdio: ["pipe", "pipe", "ignore"] })
    this.#child.stdout?.on("data", (chunk: Buffer) => this.#receive(chunk))
    this.#child.stdin?.on("error", () => undefined)
    this.#child.once("error", (error) => this.#fail(error))
    this.#child.once("exit", (code, signal) => this.#fail(new Error(`the scan ended with ${signal ?? code}`)))
    this.#hold(false)
  }

  list({ upper, lower, attributes }: UpperRequest, done: (result: Buffer | Error) => void): void {
    this.#done = done
    this.#hold(true)
    this.#child.stdin?.write(`${attributes}\0${upper}\0${lower}\0`)
  }

  end(): void {
    this.hasEnded = true
    this.#done = undefined
    this.#child.kill("SIGKILL")
  }

  #receive(chunk: Buffer): void {
    const last = this.#chunks.at(-1)
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    if (this.#bytes > mostBytes) {
      this.#fail(new Error("it made too many files"))
      return this.end()
    }
    const end = chunk.at(-1) === 0 ? (chunk.length > 1 ? chunk.at(-2) : last?.at(-1)) : undefined
    if (end === 0) this.#finish(Buffer.concat(this.#chunks).subarray(0, -1))
  }

  #fail(error: Error): void {
    this.hasEnded = true
    this.#finish(error)
  }

  #finish(result: Buffer | Error): void {
    const done = this.#done
    this.#done = undefined
    this.#chunks = []
    this.#bytes = 0
    this.#hold(false)
    done?.(result)
  }

  /** Keeps this process alive while somebody waits for a listing, and only then. */
  #hold(isBusy: boolean): void {
    for (const handle of [this.#child, this.#child.stdin, this.#child.stdout] as ReadonlyArray<Holding | null>) {
      if (isBusy) handle?.ref?.()
      else handle?.unref?.()
    }
  }
}

interface Holding {
  readonly ref?: () => void
  readonly unref?: () => void
}
