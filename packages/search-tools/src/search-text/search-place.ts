import { type ListError, type ReadError, type ToolError, toolError, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

import { type FileFilter, filterFiles, literally } from "./ripgrep/file-filter.ts"
import { type Scope, scopeOf } from "./ripgrep/scope.ts"

export interface PlaceRequest {
  /** A directory of the workspace, or one file. */
  readonly path: string
  /** Glob patterns; one with `!` before it leaves files out. None means every file. */
  readonly include: ReadonlyArray<string>
  readonly includeIgnored?: boolean
}

/** Where a search looks. */
export interface SearchPlace {
  readonly directory: string
  /** When what is asked for is one file. */
  readonly file?: string
  readonly filter: FileFilter
  readonly scope: Scope
  /** In milliseconds, when time is up. */
  readonly until: number
}

export const placeOf = Effect.fnUntraced(function* (
  request: PlaceRequest,
  timeLimitMs: number
): Effect.fn.Return<SearchPlace, ListError | ReadError | ToolError<"invalid_pattern">, Workspace> {
  const workspace = yield* Workspace
  const until = Date.now() + timeLimitMs
  const { includeIgnored = false } = request
  const { kind, path } = yield* workspace.info(request.path)
  if (kind !== "directory" && kind !== "file") {
    return yield* toolError("not_a_directory", `${request.path} is neither a directory nor a regular file`, {
      suggestion: "Name a directory, or a file that can be read.",
      details: { path: request.path }
    })
  }
  if (kind === "file" && workspace.isSecret(path)) yield* workspace.scan(path, () => false)
  const directory = kind === "file" ? path.split("/").slice(0, -1).join("/") || "." : path
  if (path.split("/").includes(".git")) {
    const filter: FileFilter = { directory: undefined, options: [], accepts: () => false }
    return { directory, filter, scope: { target: directory, options: [], heedsAbove: false }, until }
  }
  if (kind === "file") {
    // A colon would mean something in the definition of a type; any character will do, since the path is compared.
    const name = literally(path.split("/").at(-1) ?? "").replaceAll(":", "?")
    const options = [`--type-add=wanted:${name}`, "--type=wanted", "--max-depth=1", "--no-ignore"]
    const filter: FileFilter = { directory, options, accepts: (found) => found === path }
    return { directory, file: path, filter, scope: { target: directory, options: [], heedsAbove: false }, until }
  }
  const fitting = yield* filterFiles(directory, request.include, { includeIgnored, timeLimitMs })
  const filter = { ...fitting, accepts: (found: string) => fitting.accepts(found) && !workspace.isSecret(found) }
  const start = filter.directory ?? directory
  const scope = includeIgnored ? { target: start, options: ["--no-ignore"], heedsAbove: false } : yield* scopeOf(start)
  return { directory, filter, scope, until }
})

/** Fails when nobody can look there, and says why. */
export const lookAt = Effect.fnUntraced(function* ({
  directory,
  file
}: SearchPlace): Effect.fn.Return<void, ListError | ReadError, Workspace> {
  const workspace = yield* Workspace
  if (file === undefined) yield* workspace.list(directory)
  else yield* workspace.scan(file, () => false)
})
