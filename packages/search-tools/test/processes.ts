import { spawn } from "node:child_process"

import { makeToolError, type ProcessEnd, Processes, type ToolError } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Runs a program that has no child processes. Interruption and timeout kill it. */
export const plainProcesses: Layer.Layer<Processes> = Layer.succeed(Processes, {
  end: () => Effect.void,
  feed: () => 0,
  release: () => Effect.succeed([]),
  inspect: () => Effect.succeed([]),
  systemProgram: () => undefined,
  mark: Effect.succeed({ name: "HAFT_CALL", value: "test" }),
  run: (command, { timeoutMs, onStdout, onStderr } = {}) =>
    Effect.callback<ProcessEnd, ToolError<"command_not_found">>((resume) => {
      const { program, args, directory, env } = command
      const child = spawn(program, args, { cwd: directory, env, stdio: ["ignore", "pipe", "pipe"] })
      const started = performance.now()
      let timedOut = false
      const timer = setTimeout(() => {
        timedOut = true
        child.kill("SIGKILL")
      }, timeoutMs)
      child.stdout.on("data", (chunk: Buffer) => onStdout?.(chunk))
      child.stderr.on("data", (chunk: Buffer) => onStderr?.(chunk))
      child.on("error", ({ message }) => {
        clearTimeout(timer)
        resume(Effect.fail(makeToolError("command_not_found", message)))
      })
      child.on("close", (exitCode, signal) => {
        clearTimeout(timer)
        resume(Effect.succeed({ exitCode, signal, timedOut, durationMs: performance.now() - started, leftRunning: 0 }))
      })
      return Effect.sync(() => {
        clearTimeout(timer)
        child.kill("SIGKILL")
      })
    })
})
