import { existsSync } from "node:fs"
import { join } from "node:path"

import { isExecutable } from "../workspace/paths/is-executable.ts"
import { windowsDirectories } from "./windows-programs.ts"

/**
 * Directories that programs outside a sandbox come from, in this order. Never those of PATH: it may name directories of
 * a workspace (`npm run` puts `node_modules/.bin` first), relative ones and empty ones, where a sandboxed command can put
 * a program of its own.
 */
const candidates: ReadonlyArray<string> =
  process.platform === "win32"
    ? windowsDirectories(process.env)
    : [
        "/usr/bin",
        "/bin",
        "/usr/sbin",
        "/sbin",
        "/usr/local/bin",
        "/usr/local/sbin",
        "/run/current-system/sw/bin",
        "/nix/var/nix/profiles/default/bin"
      ]

/** Those of them that are there, looked for once. */
export const systemDirectories: ReadonlyArray<string> = candidates.filter((directory) => existsSync(directory))

/** PATH of every program that runs outside a sandbox. */
export const systemPath: string = systemDirectories.join(process.platform === "win32" ? ";" : ":")

const found = new Map<string, string | undefined>()

/**
 * Absolute path of a system program, or undefined. The only way that anything in this package finds a program to run
 * outside a sandbox. Each name is resolved once.
 */
export const systemProgram = (name: string): string | undefined => {
  if (!found.has(name)) {
    found.set(
      name,
      systemDirectories.map((directory) => join(directory, fileName(name))).find((path) => isExecutable(path))
    )
  }
  return found.get(name)
}

/** Finds a required program; if it is missing, fails with its name. */
export const requiredProgram = (name: string): string =>
  systemProgram(name) ?? join(candidates[0] ?? "/usr/bin", fileName(name))

const fileName = (name: string): string => (process.platform === "win32" ? `${name}.exe` : name)
