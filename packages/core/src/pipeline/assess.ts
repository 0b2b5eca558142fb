import * as Effect from "effect/Effect"

import { controlFileAt, dependencyDirectories, isProtectedPath } from "../control-files.ts"
import { type ContainError, Workspace, type WorkspaceService } from "../services/workspace.ts"
import type { ErrorCode } from "../tool-error.ts"
import type { PreparedCall, Tool } from "../tool.ts"
import type { Facts, WrittenPath } from "../touches.ts"
import { CurrentCall } from "./call.ts"

/** Assessment of a call before it runs: contained paths, inspected targets and the final risk. */
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
  let removedFiles = 0
  let replacedBytes = 0
  for (const given of touches.writes ?? []) {
    const { path, exists, isDirectory, bytes } = yield* targetOf(workspace, given, { follow: true })
    if (isDirectory) directories.add(path)
    if (writes.has(path)) continue
    writes.set(path, { path, exists, isProtected: isProtectedPath(path) })
    replacedBytes += bytes
  }
  const removed: Array<Target> = []
  for (const given of touches.removes ?? []) removed.push(yield* removedTarget(workspace, given))
  // Where a directory is moved, the place that it is moved to becomes one.
  if (removed.some(({ isDirectory }) => isDirectory)) for (const { path } of removed) directories.add(path)
  for (const { path, exists, isDirectory, bytes } of removed) {
    const isKnown = writes.has(path)
    if (isDirectory && exists && !isProtectedPath(path)) {
      const { files, ...below } = yield* lookBelow(workspace, path)
      removedFiles += files
      if (!isKnown) writes.set(path, { path, exists, ...below })
      continue
    }
    if (exists) removedFiles += 1
    if (isKnown) continue
    replacedBytes += bytes
    writes.set(path, { path, exists, isProtected: isProtectedPath(path) })
  }
  const { runs, network, confined, fetches, types } = touches
  const facts: Facts = {
    reads,
    writes: [...writes.values()],
    ...(runs !== undefined && { runs }),
    ...(network === true && { network }),
    ...(confined !== undefined && { confined }),
    ...(fetches !== undefined && { fetches }),
    ...(types !== undefined && { types }),
    ...(directories.size > 0 && { directories: [...directories] }),
    ...(removedFiles > 0 && { removedFiles }),
    ...(replacedBytes > 0 && { replacedBytes }),
    risk: [...writes.values()].some(({ isProtected }) => isProtected) ? "dangerous" : tool.risk
  }
  return facts
})

interface Target extends Pick<WrittenPath, "path" | "exists"> {
  readonly isDirectory: boolean
  /** The size of a file that is there. */
  readonly bytes: number
}

/** Where a path leads, and what is there. Without `follow` a link counts as itself, wherever it leads. */
const targetOf = (
  workspace: WorkspaceService,
  given: string,
  { follow }: { readonly follow: boolean }
): Effect.Effect<Target, ContainError> =>
  workspace.info(given, { follow }).pipe(
    Effect.map(({ path, kind, size }) => {
      const isDirectory = kind === "directory"
      return { path, exists: true, isDirectory, bytes: isDirectory ? 0 : size }
    }),
    // Missing, or there without permission to look. A path that leads outside fails here too.
    Effect.catch(({ code }) => {
      const exists = code !== "file_not_found"
      return Effect.map(workspace.contain(given), (path) => ({ path, exists, isDirectory: exists, bytes: 0 }))
    })
  )

/** Contains a path that is removed itself. Where links are denied they are not removed either, so they are refused. */
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

/** The files below a directory and its first protected path. Among installed packages only git's own directories count. */
const lookBelow = Effect.fnUntraced(function* (workspace: WorkspaceService, directory: string) {
  const found: { path?: string } = {}
  let entries = 0
  let files = 0
  const look = workspace.walk(directory, ({ name, path, kind }) => {
    entries += 1
    if (kind !== "directory") files += 1
    if (entries > mostEntries) return "stop"
    const names = [...directory.split("/"), ...path.split("/")]
    const isDependency = names.some((part) => dependencyDirectories.includes(part))
    if (controlFileAt(names) === undefined || (isDependency && name.toLowerCase() !== ".git")) return "continue"
    found.path = directory === "." ? path : `${directory}/${path}`
    return "stop"
  })
  // A directory that can't be listed can't be removed either: the call fails on its own.
  yield* Effect.ignore(look)
  if (found.path !== undefined) return { files, isProtected: true, protectedPath: found.path }
  return { files, isProtected: entries > mostEntries }
})
