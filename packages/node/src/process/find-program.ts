import { type Stats, statSync } from "node:fs"
import { delimiter, isAbsolute, join } from "node:path"

import { type Command, makeToolError } from "@haft/core"

import { isExecutable } from "../workspace/paths/is-executable.ts"
import { liesWithin } from "../workspace/paths/is-inside.ts"
import { boundPath, openRootPaths } from "../workspace/paths/open-roots.ts"
import { findWindowsProgram, type WindowsMachine } from "./windows-programs.ts"

/**
 * The program to start for a command: on Windows an absolute path. Refuses one that can't be started, and says why:
 * whoever starts it later could only say that it failed.
 */
export const findProgram = ({ program, directory: given, env }: Command): string => {
  const directory = boundPath(given)
  if (lookAt(directory)?.isDirectory() !== true) {
    throw makeToolError("sandbox_error", "the directory to run in does not exist", {
      suggestion: "Create it first, or run in another directory."
    })
  }
  if (process.platform === "win32") {
    const found = findWindowsProgram(program, { directory, path: env["PATH"] ?? "", machine: thisMachine })
    if (found === undefined) throw notFound(program)
    return found
  }
  const places = isAbsolute(program) || program.includes("/") ? [""] : (env["PATH"] ?? "").split(delimiter)
  const found = places
    .map((place) => (place === "" ? (isAbsolute(program) ? program : join(directory, program)) : join(place, program)))
    .filter((path) => lookAt(path)?.isFile() === true)
  if (found.length === 0) throw notFound(program)
  if (!found.some(isExecutable)) throw makeToolError("permission_denied", `'${program}' is not executable`)
  return program
}

/** The Windows machine that this process runs on. */
export const thisMachine: WindowsMachine = {
  env: process.env,
  isFile: (path) => lookAt(path)?.isFile() === true,
  isInWorkspace: (directory) => openRootPaths().some((root) => liesWithin(root, directory))
}

// A file that this user may not even look at counts as missing.
const lookAt = (path: string): Stats | undefined => {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

const notFound = (program: string) =>
  makeToolError("command_not_found", `there is no program '${program}' here`, {
    ...(process.platform === "win32" &&
      /^(?:ba)?sh$/.test(program) && { suggestion: "Install Git for Windows, which brings bash, or run haft in WSL." })
  })
