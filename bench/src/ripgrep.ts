import { execFile } from "node:child_process"
import { promisify } from "node:util"

import { installedRipgrep } from "@haft/search-tools"
import * as Effect from "effect/Effect"

const run = promisify(execFile)

/** The rules haft searches by, so that both look at the same files. */
const sameFiles = [
  "--no-config",
  "--hidden",
  "--no-require-git",
  "--no-ignore-parent",
  "--no-ignore-dot",
  "--glob=!.git"
]

/** What ripgrep prints about a directory; nothing found is no error. */
export const ripgrep = (root: string, ...args: ReadonlyArray<string>): Promise<string> =>
  outputOf(Effect.runSync(installedRipgrep), [...sameFiles, ...args], root)

/** What a program prints that ends with 1 when it finds nothing, as all of grep's family do. */
export const outputOf = async (program: string, args: ReadonlyArray<string>, cwd: string): Promise<string> => {
  try {
    const { stdout } = await run(program, [...args], { cwd, maxBuffer: 2 ** 30 })
    return stdout
  } catch (error) {
    if ((error as { code?: unknown }).code === 1) return ""
    throw error
  }
}
