import * as Effect from "effect/Effect"

import { controlFileAt, dependencyDirectories, isProtectedPath } from "../control-files.ts"
import { type ContainError, Workspace, type WorkspaceService } from "../services/workspace.ts"
import type { ErrorCode } from "../tool-error.ts"
import type { PreparedCall, Tool } from "../tool.ts"
import type { Facts, WrittenPath } from "../touches.ts"
import { CurrentCall } from "./call.ts"

/** What a call is about to touch: every path contained, every target looked at, the risk settled. */
export const assess = Effect.fnUntraced(function* <R, Code extends ErrorCode>(
  tool: Pick<Tool<R>, "risk">,
  prepared: PreparedCall<R, Code>
) {
  const touches = yield* prepared.touches
  const workspace = yield* Workspace
  const directories = new Set<string>()
  const reads: Array<string> = []
  for (const given of touches.reads ?? []) {
    const { path, isDirectory } = yield* targetOf(workspace, given, { follow: true })
    reads.push(path)
    if (isDirectory) directories.add(path)
  }
  const writes = new Map<string, WrittenPath>()
  for (const given of touches.writes ?? []) {
    const { path, exists, isDirectory } = yield* targetOf(workspace, given, { follow: true })
    if (isDirectory) directories.add(path)
    if (!writes.has(path)) writes.set(path, { path, exists, isProtected: isProtectedPath(path) })
  }
  const removed: Array<Target> = []
  for (const given of touches.removes ?? []) removed.push(yield* removedTarget(workspace, given))
  // Where a directory is moved, the place that it is moved to becomes one.
  if (removed.some(({ isDirectory }) => isDirectory)) for (const { path } of removed) directories.add(path)
  for (const { path, exists, isDirectory } of removed) {
    if (writes.has(path)) continue
    const below = isDirectory && !isProtectedPath(path) ? yield* protectedBelow(workspace, path) : undefined
    writes.set(path, { path, exists, isProtected: isProtectedPath(path), ...below })
  }
  const { runs, network, fetches, types } = touches
  const facts: Facts = {
    reads,
    writes: [...writes.values()],
    ...(runs !== undefined && { runs }),
    ...(network === true && { network }),
    ...(fetches !== undefined && { fetches }),
    ...(types !== undefined && { types }),
    ...(directories.size > 0 && { directories: [...directories] }),
    risk: [...writes.values()].some(({ isProtected }) => isProtected) ? "dangerous" : tool.risk
  }
  return facts
})

interface Target extends Pick<WrittenPath, "path" | "exists"> {
  readonly isDirectory: boolean
}

/** Where a path leads, and what is there. Without `follow` a link counts as itself, wherever it leads. */
const targetOf = (
  workspace: WorkspaceService,
  given: string,
  { follow }: { readonly follow: boolean }
): Effect.Effect<Target, ContainError> =>
  workspace.info(given, { follow }).pipe(
    Effect.map(({ path, kind }) => ({ path, exists: true, isDirectory: kind === "directory" })),
    // Missing, or there without permission to look. A path that leads outside fails here too.
    Effect.catch(({ code }) => {
      const exists = code !== "file_not_found"
      return Effect.map(workspace.contain(given), (path) => ({ path, exists, isDirectory: exists }))
    })
  )

/** The same for a path that is removed itself. Where links are denied they are not removed either, so they are refused. */
const removedTarget = Effect.fnUntraced(function* (
  workspace: WorkspaceService,
  given: string
): Effect.fn.Return<Target, ContainError> {
  const { symlinks } = yield* CurrentCall
  if (symlinks === "deny") yield* workspace.contain(given)
  return yield* targetOf(workspace, given, { follow: false })
})

/** Entries that are looked at below one directory. A larger one counts as protected, because it may hold anything. */
const mostEntries = 20_000

/** The first protected path below a directory. Among installed packages only git's own directories count. */
const protectedBelow = Effect.fnUntraced(function* (workspace: WorkspaceService, directory: string) {
  const found: { path?: string } = {}
  let entries = 0
  const look = workspace.walk(directory, ({ name, path }) => {
    entries += 1
    if (entries > mostEntries) return "stop"
    const names = [...directory.split("/"), ...path.split("/")]
    const isDependency = names.some((part) => dependencyDirectories.includes(part))
    if (controlFileAt(names) === undefined || (isDependency && name.toLowerCase() !== ".git")) return "continue"
    found.path = directory === "." ? path : `${directory}/${path}`
    return "stop"
  })
  // A directory that can't be listed can't be removed either: the call fails on its own.
  yield* Effect.ignore(look)
  if (found.path !== undefined) return { isProtected: true, protectedPath: found.path }
  return entries > mostEntries ? { isProtected: true } : undefined
})
