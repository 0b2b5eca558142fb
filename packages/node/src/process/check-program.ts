import { type Stats, statSync } from "node:fs"
import { delimiter, isAbsolute, join } from "node:path"

import { type Command, makeToolError } from "@haft/core"

import { isExecutable } from "../workspace/paths/is-executable.ts"
import { boundPath } from "../workspace/paths/open-roots.ts"

/** Refuses a program that can't be started, and says why: whoever starts it later could only say that it failed. */
export const checkProgram = ({ program, directory: given, env }: Command): void => {
  const directory = boundPath(given)
  if (lookAt(directory)?.isDirectory() !== true) {
    throw makeToolError("sandbox_error", "the directory to run in does not exist", {
      suggestion: "Create it first, or run in another directory."
    })
  }
  if (process.platform === "win32") return
  const places = isAbsolute(program) || program.includes("/") ? [""] : (env["PATH"] ?? "").split(delimiter)
  const found = places
    .map((place) => (place === "" ? (isAbsolute(program) ? program : join(directory, program)) : join(place, program)))
    .filter((path) => lookAt(path)?.isFile() === true)
  if (found.length === 0) throw makeToolError("command_not_found", `there is no program '${program}' here`)
  if (!found.some(isExecutable)) throw makeToolError("permission_denied", `'${program}' may not be executed`)
}

// What this user may not even look at is not there for it.
const lookAt = (path: string): Stats | undefined => {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
