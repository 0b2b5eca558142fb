import { readdirSync, rmSync } from "node:fs"
import { join } from "node:path"

import {
  type Command,
  type ControlFileChange,
  Processes,
  type RunOptions,
  Sandbox,
  type SandboxRequest
} from "@haft/core"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"

import { temporaryWorkspace, type TemporaryWorkspace } from "../temporary-workspace.ts"

/** The limits that a sandbox has to enforce for one command. */
export interface SandboxTestLimits {
  readonly processes: number
  readonly memoryBytes: number
  readonly fileSizeBytes: number
  readonly openFiles: number
  readonly cpuSeconds: number
  readonly temporaryBytes: number
}

/** A sandbox to be tested. It must contain `sh` and `perl`. */
export interface SandboxUnderTest {
  readonly sandbox: (
    workspace: TemporaryWorkspace,
    limits?: SandboxTestLimits
  ) => Layer.Layer<Sandbox | Processes, unknown>
  /** True if it can tell how many processes a command left; the default. */
  readonly countsLeftovers?: boolean
  /** The test runner's own functions. */
  readonly it: (title: string, test: () => Promise<void>, timeoutMs?: number) => void
  readonly afterAll: (cleanUp: () => Promise<void>) => void
}

/** Adds one test. */
export type Check = (title: string, test: (inside: Inside) => Promise<void>) => void

/** A sandbox with an empty workspace, and ways to run something in it. */
export interface Inside {
  readonly workspace: TemporaryWorkspace
  readonly sh: (code: string, options?: InsideOptions) => Promise<Ran>
  readonly perl: (code: string, options?: InsideOptions) => Promise<Ran>
  /** Runs several pieces of shell code in one command, and returns what each of them printed, with errors. */
  readonly probe: <Name extends string>(
    pieces: Readonly<Record<Name, string>>,
    options?: InsideOptions
  ) => Promise<Readonly<Record<Name, string>>>
  readonly run: <A, E>(effect: Effect.Effect<A, E, Sandbox | Processes>) => Promise<A>
}

export interface InsideOptions extends Pick<RunOptions, "timeoutMs"> {
  readonly request?: SandboxRequest
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
}

export interface Ran {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly timedOut: boolean
  readonly leftRunning: number
  readonly stdout: string
  readonly stderr: string
  readonly bytes: number
  readonly controlFiles?: ReadonlyArray<ControlFileChange>
}

/** One host for many tests, each of which finds an empty workspace. */
export class SharedSandbox {
  readonly #workspace = temporaryWorkspace()
  readonly #runtime: ManagedRuntime.ManagedRuntime<Sandbox | Processes, unknown>

  constructor(sandbox: (workspace: TemporaryWorkspace) => Layer.Layer<Sandbox | Processes, unknown>) {
    this.#runtime = ManagedRuntime.make(sandbox(this.#workspace))
  }

  open(): Inside {
    const workspace = this.#workspace
    for (const directory of [workspace.root, workspace.outside, workspace.state]) {
      for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true, force: true })
    }
    const sh = this.#inside("sh", "-c")
    return {
      workspace,
      sh,
      perl: this.#inside("perl", "-e"),
      probe: async (pieces, options) => {
        const names = Object.keys(pieces) as Array<keyof typeof pieces>
        const code = names.map((name) => `{ ${pieces[name]}\n} 2>&1; printf '\\n%s\\n' '${border}'`)
        const printed = (await sh(code.join("\n"), options)).stdout.split(`\n${border}\n`)
        return Object.fromEntries(names.map((name, index) => [name, printed[index]])) as typeof pieces
      },
      run: (effect) => this.#runtime.runPromise(effect)
    }
  }

  async close(): Promise<void> {
    await this.#runtime.dispose()
    this.#workspace.remove()
  }

  #inside(program: string, flag: string): Inside["sh"] {
    return (code, { request = {}, env = {}, stdin, timeoutMs = 60_000 } = {}) => {
      const directory = this.#workspace.root
      const command = { program, args: [flag, code], directory, env, ...(stdin !== undefined && { stdin }) }
      return this.#runtime.runPromise(wrapAndRun(command, request, { timeoutMs }))
    }
  }
}

const border = "-- the next piece --"

/** Runs a command in the sandbox and keeps the beginning of what it prints. */
export const wrapAndRun = Effect.fnUntraced(function* (
  command: Command,
  request: SandboxRequest = {},
  options: RunOptions = {}
) {
  const sandbox = yield* Sandbox
  const processes = yield* Processes
  const kept = { stdout: "", stderr: "", bytes: 0 }
  const wrapped = yield* sandbox.wrap(command, request)
  const end = yield* processes.run(wrapped, {
    ...options,
    onStdout: (chunk) => {
      kept.bytes += chunk.length
      if (kept.stdout.length < 100_000) kept.stdout += Buffer.from(chunk).toString()
    },
    onStderr: (chunk) => {
      if (kept.stderr.length < 100_000) kept.stderr += Buffer.from(chunk).toString()
    }
  })
  return { ...end, ...kept }
})
