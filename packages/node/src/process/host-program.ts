import { chmodSync, copyFileSync } from "node:fs"
import { basename, join } from "node:path"

import { liesWithin } from "../workspace/paths/is-inside.ts"
import { openRootPaths } from "../workspace/paths/open-roots.ts"
import { removeQuietly } from "./owner-tagged-name.ts"
import { makeRuntimeDirectory } from "./runtime-directory.ts"

const copies = new Map<string, string>()

/**
 * The path to run a program of haft's own by, outside of sandboxes: of the program itself, or of a copy made at the first
 * call where it lies in an open workspace, whose commands could replace it.
 */
export const hostProgram = (program: string): string => {
  const known = copies.get(program)
  if (known !== undefined) return known
  if (!openRootPaths().some((root) => liesWithin(root, program))) return program
  const directory = makeRuntimeDirectory("programs")
  process.once("exit", () => removeQuietly(directory))
  const copy = join(directory, basename(program))
  copyFileSync(program, copy)
  chmodSync(copy, 0o500)
  copies.set(program, copy)
  return copy
}
