import { execFile } from "node:child_process"
import { promisify } from "node:util"

import { installedRipgrep } from "@haft/search-tools"
import * as Effect from "effect/Effect"

const run = promisify(execFile)

/** The options that haft uses too, so that both search the same files. */
const sameFiles = [
  "--no-config",
  "--hidden",
  "--no-require-git",
  "--no-ignore-parent",
  "--no-ignore-dot",
  "--glob=!.git"
]

/** The output of ripgrep on a directory. */
export const ripgrep = (root: string, ...args: ReadonlyArray<string>): Promise<string> =>
  outputOf(Effect.runSync(installedRipgrep), [...sameFiles, ...args], root)

/** The output of a program of grep's family, which exits with 1 when it finds nothing. */
export const outputOf = async (program: string, args: ReadonlyArray<string>, cwd: string): Promise<string> => {
  try {
    const { stdout } = await run(program, [...args], { cwd, maxBuffer: 2 ** 30 })
    return stdout
  } catch (error) {
    if ((error as { code?: unknown }).code === 1) return ""
    throw error
  }
}
