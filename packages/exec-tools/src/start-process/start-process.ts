import { Artifacts, requireNetwork, pathOnDisk, toolError, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"

import { startBackground } from "../background/background-program.ts"
import { ManagedProcesses, outputArtifact } from "../managed-processes/managed-processes.ts"
import { checkWords } from "../run-command/check-words.ts"
import { shellWords } from "../run-command/run-command.ts"
import { ExecSettings } from "../settings.ts"

export interface ProcessRequest {
  readonly command: string
  readonly directory: string
  readonly env: Readonly<Record<string, string>>
  readonly network: boolean
  /** How long to wait for an early end. */
  readonly waitMs: number
  /** It is ended after this time; after the host's own limit when absent, and never later. */
  readonly lifetimeMs?: number | undefined
}

/** Starts a command that goes on running after the call, in the sandbox. */
export const startProcess = Effect.fnUntraced(function* (request: ProcessRequest) {
  const { command, env, network, waitMs, lifetimeMs = Number.POSITIVE_INFINITY } = request
  const words = shellWords(command)
  yield* checkWords({ words, env })
  yield* requireNetwork(network)
  const { maxLifetimeMs, artifactBytes } = yield* ExecSettings
  const workspace = yield* Workspace
  const directory = yield* workspace.contain(request.directory)
  if ((yield* workspace.info(directory)).kind !== "directory") {
    return yield* toolError("not_a_directory", `${request.directory} is not a directory`, {
      details: { path: request.directory }
    })
  }
  const processes = yield* ManagedProcesses
  const managed = yield* processes.add({ command, directory })
  const [program = "", ...args] = words
  // Open as long as the process runs, not as long as the call.
  const scope = yield* Scope.make()
  const close = Scope.close(scope, Exit.void)
  const artifacts = yield* Artifacts
  const writer = yield* artifacts.create(outputArtifact(managed.id), { capBytes: artifactBytes }).pipe(
    Scope.provide(scope),
    Effect.onError(() => processes.remove(managed))
  )
  const print = (chunk: Uint8Array): void => {
    managed.print(chunk)
    writer.write(chunk)
  }
  managed.program = yield* startBackground(processes.fibers, {
    label: command,
    command: { program, args, line: command, directory: pathOnDisk(workspace, directory), env },
    sandbox: { network, title: command },
    options: {
      timeoutMs: Math.min(lifetimeMs, maxLifetimeMs),
      onStdout: print,
      onStderr: print
    },
    onEnd: (end) => managed.finish(end),
    ensuring: close
  }).pipe(Effect.onError(() => Effect.andThen(close, processes.remove(managed))))
  yield* earlyEnd(() => managed.end !== undefined, waitMs)
  return managed
})

const earlyEnd = Effect.fnUntraced(function* (hasEnded: () => boolean, waitMs: number) {
  const deadline = performance.now() + waitMs
  while (!hasEnded() && performance.now() < deadline) yield* Effect.sleep(20)
})
