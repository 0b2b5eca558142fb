import type { ChildProcess } from "node:child_process"

import { makeToolError, type ToolError } from "@haft/core"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

import { systemPath } from "../process/system-programs.ts"
import { mountWords } from "../sandbox/overlay/overlay.ts"
import { branchVariable } from "./branch-file.ts"
import type { Branch } from "./branch-store.ts"

/** With an index the kernel refuses to mount an upper directory twice, so the mount itself is the lock of a branch. */
const mountOptions = ",index=on"

/** Exit code of overlay-mount.pl where the upper directory is mounted already. */
const busyCode = 75

/** Prefix that starts a program on a branch, with the branch's view in the place of the workspace. */
export const branchWords = (branch: Branch): ReadonlyArray<string> => mountWords(branch.root, branch, mountOptions)

export type HoldError = ToolError<"branch_in_use" | "sandbox_unavailable">

/** Keeps everybody else off a branch, until the scope ends. Fails while a program works on it. */
export const holdBranch = (branch: Branch): Effect.Effect<void, HoldError, Scope.Scope> =>
  Effect.asVoid(
    Effect.acquireRelease(
      Effect.callback<ChildProcess, HoldError>((resume) => {
        const [program = "", ...words] = branchWords(branch)
        const args = [...words, "/bin/sh", "-c", "echo held; exec cat >/dev/null"]
        const { spawn } = process.getBuiltinModule("node:child_process")
        const holder = spawn(program, args, { cwd: "/", env: { PATH: systemPath }, stdio: ["pipe", "pipe", "pipe"] })
        let problem = ""
        holder.stderr.on("data", (chunk: Buffer) => (problem += chunk.toString("utf8")))
        holder.stdout.once("data", () => resume(Effect.succeed(holder)))
        holder.once("error", (error) => resume(Effect.fail(notMounted(error.message))))
        holder.once("exit", (code) => resume(Effect.fail(code === busyCode ? inUse(branch) : notMounted(problem))))
        return Effect.sync(() => holder.kill("SIGKILL"))
      }),
      letGo
    )
  )

const letGo = (holder: ChildProcess): Effect.Effect<void> =>
  Effect.callback((resume) => {
    if (holder.exitCode !== null || holder.signalCode !== null) return resume(Effect.void)
    holder.once("exit", () => resume(Effect.void))
    holder.kill("SIGKILL")
  })

/** True while a program works on a branch. */
export const isInUse = (branch: Branch): Effect.Effect<boolean, ToolError<"sandbox_unavailable">> =>
  Effect.scoped(holdBranch(branch)).pipe(
    Effect.as(false),
    Effect.catch((error) =>
      error.code === "branch_in_use" ? Effect.succeed(true) : Effect.fail(error as ToolError<"sandbox_unavailable">)
    )
  )

/** A program to start on a branch. */
export interface BranchProgram {
  readonly program: string
  readonly args: ReadonlyArray<string>
  /** Absolute; the workspace when absent. */
  readonly directory?: string
}

/** Runs a program on a branch with this process's standard streams, and returns its exit code. */
export const runOnBranch = (
  branch: Branch,
  { program, args, directory = branch.root }: BranchProgram
): Effect.Effect<number, HoldError> =>
  Effect.callback((resume) => {
    const [first = "", ...rest] = [...branchWords(branch), ...startIn(directory), program, ...args]
    const { spawn } = process.getBuiltinModule("node:child_process")
    const child = spawn(first, rest, { cwd: "/", env: branchEnvironment(branch), stdio: "inherit" })
    // The terminal sends its signals to both; the program decides, and this process tells how it ended.
    const stay = (): void => {}
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const
    for (const signal of signals) process.on(signal, stay)
    const end = (result: Effect.Effect<number, HoldError>): void => {
      for (const signal of signals) process.off(signal, stay)
      resume(result)
    }
    child.once("error", (error) => end(Effect.fail(notMounted(error.message))))
    child.once("exit", (code, signal) => {
      if (code === busyCode) end(Effect.fail(inUse(branch)))
      else
        end(
          Effect.succeed(
            code ?? 128 + (process.getBuiltinModule("node:os").constants.signals[signal ?? "SIGKILL"] ?? 9)
          )
        )
    })
    return Effect.sync(() => child.kill("SIGKILL"))
  })

/** Changes to a directory of the view: this process's own directory is in the workspace itself. */
export const startIn = (directory: string): ReadonlyArray<string> => [
  "/bin/sh",
  "-c",
  'cd -- "$1" && shift && exec "$@"',
  "sh",
  directory
]

/** Environment of programs on a branch: haft finds the branch's state by it. */
export const branchEnvironment = (branch: Branch): NodeJS.ProcessEnv => ({
  ...process.env,
  [branchVariable]: branch.directory
})

const inUse = ({ name }: Branch): ToolError<"branch_in_use"> =>
  makeToolError("branch_in_use", `branch '${name}' is in use: a host or a program works on it`, {
    suggestion: "Close it first.",
    details: { branch: name },
    retryable: true
  })

const notMounted = (problem: string): ToolError<"sandbox_unavailable"> =>
  makeToolError(
    "sandbox_unavailable",
    `the view of a branch can't be mounted here: ${problem.trim() || "no reason given"}`,
    {
      suggestion:
        "Branches need Linux with overlayfs, perl, and user namespaces or root; `haft doctor` says what is missing."
    }
  )
