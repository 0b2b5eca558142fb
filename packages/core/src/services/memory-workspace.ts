import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { concatBytes } from "../text/concat-bytes.ts"
import { type ToolError, toolError } from "../tool-error.ts"
import {
  type Change,
  type ChangedPath,
  type CommitError,
  type ContainError,
  type DirectoryEntry,
  type FileInfo,
  type FileKind,
  type ReadError,
  type ScannedFile,
  Workspace
} from "./workspace.ts"

/**
 * A workspace in memory, for tests and for tools that need no disk. It has files and the directories
 * they imply, no links, no permissions and no history.
 */
export const memoryWorkspace = (initial: Readonly<Record<string, string | Uint8Array>> = {}): Layer.Layer<Workspace> =>
  Layer.sync(Workspace, () => {
    const files = new Map(Object.entries(initial).map(([path, content]) => [path, bytesOf(content)]))

    const isDirectory = (path: string): boolean =>
      path === "." || [...files.keys()].some((name) => name.startsWith(`${path}/`))
    const missing = (path: string) => toolError("file_not_found", `${path} does not exist`, { details: { path } })

    const info = Effect.fnUntraced(function* (given: string) {
      const path = yield* containIn(given)
      const content = files.get(path)
      if (content !== undefined) return fileInfo(path, "file", content.length)
      return isDirectory(path) ? fileInfo(path, "directory", 0) : yield* missing(given)
    })

    const read = Effect.fnUntraced(function* (given: string, options?: { readonly maxBytes?: number }) {
      const { path, kind, size } = yield* info(given)
      if (kind === "directory") return yield* toolError("is_directory", `${path} is a directory`, { details: { path } })
      if (size > (options?.maxBytes ?? size)) {
        return yield* toolError("file_too_large", `${path} has ${size} bytes`, { details: { path, size } })
      }
      return files.get(path) ?? new Uint8Array()
    })

    const list = Effect.fnUntraced(function* (given: string) {
      const { path, kind } = yield* info(given)
      if (kind !== "directory")
        return yield* toolError("not_a_directory", `${path} is not a directory`, { details: { path } })
      const prefix = path === "." ? "" : `${path}/`
      const names = new Map<string, DirectoryEntry>()
      for (const name of files.keys()) {
        if (!name.startsWith(prefix)) continue
        const [first = "", ...rest] = name.slice(prefix.length).split("/")
        names.set(first, { name: first, kind: rest.length > 0 ? "directory" : "file" })
      }
      return [...names.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1))
    })

    const fingerprint = (given: string) =>
      info(given).pipe(
        Effect.map(({ path, kind }) =>
          kind === "directory" ? "directory" : hash(files.get(path) ?? new Uint8Array())
        ),
        Effect.catchIf(
          (error) => error.code === "file_not_found",
          () => Effect.succeed("absent")
        )
      )

    const apply = Effect.fnUntraced(function* (change: Change) {
      if (change.kind === "create_directory") return []
      const path = yield* containIn(change.kind === "move" ? change.from : change.path)
      const before = yield* fingerprint(path)
      if ("base" in change && change.base !== undefined && change.base !== before) {
        return yield* toolError("stale_file", `${path} has changed since it was read`, { details: { path } })
      }
      if (change.kind === "write") {
        const content = change.content instanceof Uint8Array ? change.content : concatBytes(change.content)
        files.set(path, content)
        const kind = before === "absent" ? "created" : "modified"
        return [{ path, kind, before, after: hash(content), bytesWritten: content.length } satisfies ChangedPath]
      }
      if (before === "absent") return yield* missing(path)
      if (change.kind === "delete") {
        const gone = [...files.keys()].filter((name) => name === path || name.startsWith(`${path}/`))
        for (const name of gone) files.delete(name)
        return gone.map((name): ChangedPath => ({
          path: name,
          kind: "deleted",
          before,
          after: "absent",
          bytesWritten: 0
        }))
      }
      const movedTo = yield* containIn(change.to)
      if (change.overwrite !== true && (yield* fingerprint(movedTo)) !== "absent") {
        return yield* toolError("already_exists", `${movedTo} already exists`, { details: { path: movedTo } })
      }
      files.set(movedTo, files.get(path) ?? new Uint8Array())
      files.delete(path)
      return [{ path, kind: "moved", movedTo, before, after: before, bytesWritten: 0 } satisfies ChangedPath]
    })

    const applyAll = (
      changes: ReadonlyArray<Change>,
      { onlyTry }: { readonly onlyTry: boolean }
    ): Effect.Effect<ReadonlyArray<ChangedPath>, CommitError> =>
      Effect.suspend(() => {
        const before = new Map(files)
        const putBack = Effect.sync(() => {
          files.clear()
          for (const [path, content] of before) files.set(path, content)
        })
        const applied = Effect.map(Effect.forEach(changes, apply), (results) => results.flat())
        return onlyTry ? Effect.ensuring(applied, putBack) : Effect.tapError(applied, () => putBack)
      })

    return {
      root: "/memory",
      contain: containIn,
      info,
      read,
      readEach: Effect.fnUntraced(function* (paths, visit, options) {
        for (const path of paths) {
          const content = yield* read(path, options).pipe(Effect.catch((error) => Effect.succeed(error)))
          if (!visit(path, content)) return
        }
      }),
      snapshot: (path) =>
        Effect.map(Effect.all([info(path), read(path)]), ([found, content]) => ({
          info: found,
          content,
          fingerprint: hash(content)
        })),
      scan: (path, visit, { fingerprintUpTo = -1 } = {}) =>
        Effect.flatMap(read(path), (content) => {
          const isWhole = visit(content)
          const isWanted = isWhole && content.length <= fingerprintUpTo
          return Effect.map(info(path), (found) => (isWanted ? { ...found, fingerprint: hash(content) } : found))
          // Without `maxBytes` no file is too large to be read.
        }) as Effect.Effect<ScannedFile, ReadError>,
      list,
      walk: Effect.fnUntraced(function* (path, visit) {
        const root = yield* containIn(path)
        yield* list(root)
        const prefix = root === "." ? "" : `${root}/`
        const inside = [...files.keys()]
          .filter((name) => name.startsWith(prefix))
          .map((name) => name.slice(prefix.length))
        const entries = new Map<string, FileKind>(inside.flatMap(directoriesAbove).map((above) => [above, "directory"]))
        for (const name of inside) entries.set(name, "file")
        const passedOver: Array<string> = []
        for (const [name, kind] of [...entries].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
          if (passedOver.some((directory) => name.startsWith(`${directory}/`))) continue
          const parts = name.split("/")
          const step = visit({ path: name, name: parts.at(-1) ?? name, kind, depth: parts.length - 1 })
          if (step === "stop") return
          if (step === "skip") passedOver.push(name)
        }
      }),
      glob: () => toolError("invalid_pattern", "a workspace in memory has no globs"),
      fingerprint,
      commit: (changes) => applyAll(changes, { onlyTry: false }),
      previewCommit: (changes) => applyAll(changes, { onlyTry: true }),
      undo: () => toolError("no_history", "a workspace in memory keeps no history"),
      previewUndo: () => toolError("no_history", "a workspace in memory keeps no history")
    }
  })

const containIn = (path: string): Effect.Effect<string, ContainError> => {
  if (path.includes("\0")) return toolError("invalid_params", "a path can't contain a NUL character")
  if (!path.isWellFormed()) return toolError("invalid_params", "a path can't contain half a character")
  // Paths in Windows' style that name a drive or climb are meant to leave, whatever they are here.
  if (/^(?:[A-Za-z]:[\\/]|\\)|\.\.\\|\\\.\.$/.test(path)) return outside(path)
  const parts: Array<string> = []
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue
    if (part === ".." && parts.pop() === undefined) return outside(path)
    if (part !== "..") parts.push(part)
  }
  return path.startsWith("/") ? outside(path) : Effect.succeed(parts.length === 0 ? "." : parts.join("/"))
}

const outside = (path: string): Effect.Effect<never, ToolError<"path_outside_workspace">> =>
  toolError("path_outside_workspace", `${path} is outside the workspace`, { details: { path } })

const bytesOf = (content: string | Uint8Array): Uint8Array =>
  typeof content === "string" ? new TextEncoder().encode(content) : content

const fileInfo = (path: string, kind: FileInfo["kind"], size: number): FileInfo => ({
  path,
  kind,
  size,
  modified: 0,
  mode: 0o644
})

// FNV-1a: enough to tell two contents of a test apart without a crypto module.
const hash = (bytes: Uint8Array): string => {
  let value = 0x811c9dc5
  for (const byte of bytes) value = Math.imul(value ^ byte, 0x01000193) >>> 0
  return `${bytes.length}-${value.toString(16)}`
}

const directoriesAbove = (path: string): ReadonlyArray<string> =>
  path
    .split("/")
    .slice(0, -1)
    .map((_, index, names) => names.slice(0, index + 1).join("/"))
