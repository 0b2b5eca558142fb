import * as Effect from "effect/Effect"

import { type Clipped, HeadAndTail } from "../text/clip.ts"
import type { ToolError } from "../tool-error.ts"
import { type ProcessEnd, Processes, type RunErrorCode } from "./processes.ts"
import { Sandbox } from "./sandbox.ts"
import { type ContainError, pathOnDisk, Workspace } from "./workspace.ts"

/** A program for a tool to run: in the sandbox, without a shell, with the sandbox's own environment. */
export interface Program {
  readonly program: string
  readonly args?: ReadonlyArray<string>
  /** Relative to the workspace, which is the default. */
  readonly directory?: string
  /** Variables to add. */
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
  /** One minute by default. */
  readonly timeoutMs?: number
  /** Bytes kept of each stream, from its beginning and its end; 100,000 by default. */
  readonly maxBytes?: number
  /** Off by default. A tool that sets it says so in its touches and asks. */
  readonly network?: boolean
  /** False runs it on a workspace that can't be changed. True by default. */
  readonly writable?: boolean
}

export interface ProgramEnd extends ProcessEnd {
  readonly stdout: Clipped
  readonly stderr: Clipped
}

/** Services required to run a program. */
export type RunsPrograms = Workspace | Sandbox | Processes

/** Runs a program to its end. A failing program is a result; a program that could not run is an error. */
export const runProgram = Effect.fnUntraced(function* (
  request: Program
): Effect.fn.Return<ProgramEnd, ContainError | ToolError<RunErrorCode | "sandbox_unavailable">, RunsPrograms> {
  const { program, args = [], env = {}, stdin, timeoutMs = 60_000, maxBytes = 100_000 } = request
  const workspace = yield* Workspace
  const sandbox = yield* Sandbox
  const processes = yield* Processes
  const directory = pathOnDisk(workspace, yield* workspace.contain(request.directory ?? "."))
  const wrapped = yield* sandbox.wrap(
    { program, args, directory, env, ...(stdin !== undefined && { stdin }) },
    { network: request.network ?? false, writable: request.writable ?? true }
  )
  const stdout = new HeadAndTail(maxBytes)
  const stderr = new HeadAndTail(maxBytes)
  const end = yield* processes.run(wrapped, {
    timeoutMs,
    onStdout: (chunk) => stdout.push(chunk),
    onStderr: (chunk) => stderr.push(chunk)
  })
  return { ...end, stdout: stdout.finish(), stderr: stderr.finish() }
})
