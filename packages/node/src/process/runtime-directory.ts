import { mkdirSync, mkdtempSync, statSync } from "node:fs"
// By namespace, because the import of a name that Deno lacks would fail.
import * as nodeModule from "node:module"
import { homedir, tmpdir } from "node:os"
import { isAbsolute, join } from "node:path"

import { makeToolError } from "@haft/core"

import { liesWithin } from "../workspace/paths/is-inside.ts"
import { openRootPaths } from "../workspace/paths/open-roots.ts"
import { leftBehind, ownName, removeQuietly } from "./owner-tagged-name.ts"

/**
 * A new directory for pipes, scripts and settings of this process, mode 0700, where no sandbox can see it: whoever could
 * write to a launcher's pipe would run programs on the host. The next host removes it if this one can't.
 */
export const makeRuntimeDirectory = (kind: string): string => {
  const base = runtimeBase()
  if (!swept.has(`${base} ${kind}`)) {
    swept.add(`${base} ${kind}`)
    for (const name of leftBehind(base, kind)) removeQuietly(join(base, name))
  }
  return mkdtempSync(join(base, ownName(kind)))
}

/** Refuses a path for a sandbox to see when it contains runtime files, or compiled code that the next host would run. */
export const refuseRuntimeInside = (path: string): void => {
  const base = runtimeBase()
  if (outside.has(path)) return
  if (liesWithin(path, base)) {
    throw makeToolError("sandbox_error", `${path} contains the runtime directory ${base}, which no sandbox may see`, {
      suggestion: "Choose a smaller workspace, or set XDG_RUNTIME_DIR to a directory outside of it."
    })
  }
  const { getCompileCacheDir }: Partial<typeof nodeModule> = nodeModule
  const cache = getCompileCacheDir?.()
  if (cache !== undefined && liesWithin(path, cache)) {
    const problem = `${path} contains Node's compile cache ${cache}, which no sandbox may see (set XDG_CACHE_HOME)`
    throw makeToolError("sandbox_error", problem, {
      suggestion: "Choose a smaller workspace, or set XDG_CACHE_HOME to a directory outside of it."
    })
  }
  outside.add(path)
}

let chosen: string | undefined
const outside = new Set<string>()
const swept = new Set<string>()

// Chosen once: launchers that run already keep their pipes there.
const runtimeBase = (): string => (chosen ??= chooseBase(openRootPaths()))

/** The first directory of this user's own that none of these workspaces contains. */
export const chooseBase = (workspaces: ReadonlyArray<string>): string => {
  const state = stateHome()
  const name = `haft-${process.getuid?.() ?? "user"}`
  const candidates = [
    // Root runs commands for other users, who can't enter root's own directories.
    ...(process.getuid?.() === 0 ? [join("/run", name)] : []),
    ...[process.env["XDG_RUNTIME_DIR"] ?? ""].filter(isAbsolute).map((directory) => join(directory, "haft")),
    join(state, "run"),
    join(tmpdir(), name),
    join("/tmp", name)
  ]
  const base = candidates.find(
    (directory) => !workspaces.some((root) => liesWithin(root, directory)) && isOwn(directory)
  )
  if (base !== undefined) return base
  throw makeToolError("sandbox_error", "there is no directory for runtime files outside the workspace", {
    suggestion: "Set XDG_RUNTIME_DIR to a directory of yours that no workspace contains."
  })
}

const stateHome = (): string => {
  const home = process.env["XDG_STATE_HOME"] ?? ""
  return join(isAbsolute(home) ? home : join(homedir(), ".local", "state"), "haft")
}

// Made by this user, for nobody else to list or write. In /tmp somebody else may have made a directory of that name.
const isOwn = (directory: string): boolean => {
  try {
    mkdirSync(directory, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
    const { uid, mode } = statSync(directory)
    return process.getuid === undefined || (uid === process.getuid() && (mode & 0o066) === 0)
  } catch {
    return false
  }
}
