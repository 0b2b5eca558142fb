import { homedir } from "node:os"
import { isAbsolute, relative, resolve, sep } from "node:path"

import { singleLine, type ToolError, toolError, Workspace, type WorkspaceRoot } from "@haft/core"
import * as Effect from "effect/Effect"

/** A path of a caller, inside one of the allowed directories. */
export interface Located {
  readonly absolute: string
  /** As the workspace takes it. */
  readonly path: string
}

/** Finds the allowed directory that a path lies in. A relative path begins in the first one. */
export const locate = Effect.fnUntraced(function* (
  given: string
): Effect.fn.Return<Located, ToolError<"path_outside_workspace" | "invalid_params">, Workspace> {
  const { roots } = yield* Workspace
  const expanded = given === "~" || given.startsWith("~/") ? `${homedir()}${given.slice(1)}` : given
  if (sep === "/" && /^[A-Za-z]:(?:[\\/]|$)/.test(expanded)) {
    return yield* denied(`Access denied - Windows-style path received on a POSIX host: ${singleLine(given)}`, given)
  }
  const candidates = isAbsolute(expanded) ? [resolve(expanded)] : roots.map(({ path }) => resolve(path, expanded))
  for (const absolute of candidates) {
    const root = roots.find(({ path }) => isWithin(path, absolute))
    if (root !== undefined) return { absolute, path: pathIn(root, absolute) }
  }
  const allowed = roots.map(({ path }) => path).join(", ")
  const where = `${singleLine(candidates[0] ?? given)} not in ${allowed}`
  return yield* denied(`Access denied - path outside allowed directories: ${where}`, given)
})

/** The absolute path of a path that the workspace names. */
export const absolutePath = (roots: ReadonlyArray<WorkspaceRoot>, path: string): string => {
  const [only] = roots
  if (roots.length === 1 && only?.name === "") return resolve(only.path, path)
  const [name, ...rest] = path.split("/")
  return resolve(roots.find((root) => root.name === name)?.path ?? "/", ...rest)
}

const isWithin = (root: string, path: string): boolean =>
  path === root || path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)

const pathIn = ({ name, path }: WorkspaceRoot, absolute: string): string => {
  const below = relative(path, absolute).replaceAll(sep, "/")
  if (name === "") return below === "" ? "." : below
  return below === "" ? name : `${name}/${below}`
}

const denied = (message: string, path: string) =>
  toolError("path_outside_workspace", message, { details: { path, worded: true } })
