import { execFile } from "node:child_process"
import { join } from "node:path"

import type { TemporaryWorkspace } from "@haft/testing"

import { directory } from "./build.ts"

export interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export const bin = join(directory, "bin.js")

/** The options that have a command work in a temporary workspace. */
export const placeOf = ({ root, state }: TemporaryWorkspace): ReadonlyArray<string> => [
  "--workspace",
  root,
  "--state",
  state
]

/** Runs the program to its end. */
export const haft = (
  args: ReadonlyArray<string>,
  options: {
    readonly stdin?: string
    readonly env?: Readonly<Record<string, string | undefined>>
    readonly cwd?: string
  } = {}
): Promise<Ended> =>
  new Promise((resolve) => {
    const env = { ...process.env, ...options.env }
    const child = execFile(
      process.execPath,
      [bin, ...args],
      { env, cwd: options.cwd ?? process.cwd() },
      (error, stdout, stderr) => resolve({ code: codeOf(error), stdout, stderr })
    )
    // A program that does not read its input may have exited before it is written.
    child.stdin?.on("error", () => {}).end(options.stdin ?? "")
  })

const codeOf = (error: unknown): number => {
  if (error === null) return 0
  const { code } = error as { code?: unknown }
  return typeof code === "number" ? code : -1
}
