import type { ChildProcess } from "node:child_process"

import { makeToolError, type ToolError } from "@haft/core"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

import { branchEnvironment, branchWords, startIn } from "./branch-session.ts"
import type { Branch } from "./branch-store.ts"

/** A Node program on a branch that exchanges messages with this process. */
export interface BranchProcess {
  readonly send: (message: unknown) => void
  readonly onMessage: (listener: (message: unknown) => void) => void
  /** Calls back with the reason once it has ended. */
  readonly onEnd: (listener: (reason: string) => void) => void
}

/** Starts a module on a branch, as a Node program with a message channel. It ends with the scope. */
export const startOnBranch = (
  branch: Branch,
  module: string
): Effect.Effect<BranchProcess, ToolError<"sandbox_error">, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.try({
        try: () => {
          const { spawn } = process.getBuiltinModule("node:child_process")
          const node = [process.execPath, ...process.execArgv, module]
          const [program = "", ...args] = [...branchWords(branch), ...startIn(branch.root), ...node]
          return spawn(program, args, {
            cwd: "/",
            env: branchEnvironment(branch),
            // Its standard output is nobody's: this process may speak a protocol there.
            stdio: ["ignore", "ignore", "inherit", "ipc"],
            serialization: "advanced"
          })
        },
        catch: (cause) => makeToolError("sandbox_error", `the host of a branch could not be started: ${String(cause)}`)
      }),
      ended
    ),
    (child) => {
      let reason: string | undefined
      const listeners: Array<(reason: string) => void> = []
      const end = (why: string): void => {
        reason ??= why
        for (const listener of listeners.splice(0)) listener(why)
      }
      child.once("error", (error) => end(error.message))
      child.once("exit", (code, signal) => end(`it ended with ${signal ?? `exit code ${code}`}`))
      return {
        send: (message) => void child.send(message as object, () => {}),
        onMessage: (listener) => void child.on("message", listener),
        onEnd: (listener) => {
          if (reason === undefined) listeners.push(listener)
          else listener(reason)
        }
      }
    }
  )

/** The host closes when its channel does; what does not end then is killed. */
const ended = (child: ChildProcess): Effect.Effect<void> =>
  Effect.callback((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    const timer = setTimeout(() => child.kill("SIGKILL"), 10_000)
    child.once("exit", () => {
      clearTimeout(timer)
      resume(Effect.void)
    })
    if (child.connected) child.disconnect()
  })
