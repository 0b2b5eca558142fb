import * as Effect from "effect/Effect"

import { diffOf } from "../diff/plan-diff.ts"
import { concatBytes } from "../text/concat-bytes.ts"
import { type ToolError, toolError } from "../tool-error.ts"
import {
  type ChangedPath,
  type ChangePlan,
  type Content,
  type MoveOptions,
  netChanges,
  type PlannedFile,
  type WriteOptions
} from "./change-plan.ts"
import type { CommitError, ContainError, FileInfo, LookError, PlanError } from "./workspace.ts"

/** The files of a workspace in memory, by path. */
export type Files = Map<string, Uint8Array>

/** A change plan over files in memory. There are no links, modes or empty directories, so these change nothing. */
export class MemoryPlan implements ChangePlan {
  readonly #files: Files
  readonly #before: Files
  readonly #after: Files
  readonly #changes: Array<ChangedPath> = []
  /** The paths that the plan depends on. */
  readonly #seen = new Set<string>()

  constructor(files: Files) {
    this.#files = files
    this.#before = new Map(files)
    this.#after = new Map(files)
  }

  get changes(): ReadonlyArray<ChangedPath> {
    return this.#changes
  }

  readonly isUndoable: boolean = true
  readonly diff: Effect.Effect<string> = Effect.suspend(() => this.diffWhere(() => true))

  readonly diffWhere = (isShown: (path: string) => boolean): Effect.Effect<string> =>
    Effect.suspend(() => diffOf(netChanges(this.#changes).filter(({ path }) => isShown(path))))

  readonly info = (given: string): Effect.Effect<FileInfo | undefined, LookError> =>
    infoIn(this.#after, given).pipe(
      Effect.tap(({ path }) => this.#see(path)),
      Effect.catchIf(
        (error) => error.code === "file_not_found",
        () => Effect.flatMap(containIn(given), (path) => Effect.as(this.#see(path), undefined))
      )
    )

  readonly file = (
    given: string,
    { maxBytes = Infinity, original = false }: { readonly maxBytes?: number; readonly original?: boolean } = {}
  ): Effect.Effect<PlannedFile, PlanError> =>
    Effect.gen({ self: this }, function* () {
      const from = original && this.#before.has(yield* containIn(given)) ? this.#before : this.#after
      const { path, kind, size, mode } = yield* infoIn(from, given)
      yield* this.#see(path)
      if (kind === "directory") return yield* toolError("is_directory", `${path} is a directory`, { details: { path } })
      if (size > maxBytes) {
        return yield* toolError("file_too_large", `${path} has ${size} bytes`, { details: { path, size } })
      }
      const content = from.get(path) ?? new Uint8Array()
      return { path, content, fingerprint: fingerprintOf(content), mode }
    })

  readonly write = (given: string, content: Content, { base }: WriteOptions = {}): Effect.Effect<void, PlanError> =>
    Effect.gen({ self: this }, function* () {
      const path = yield* containIn(given)
      const before = yield* this.#stateOf(path, base)
      const bytes = content instanceof Uint8Array ? content : concatBytes(content)
      const after = fingerprintOf(bytes)
      if (before === after) return
      const contentBefore = this.#after.get(path)
      this.#after.set(path, bytes)
      this.#changes.push({
        path,
        kind: before === "absent" ? "created" : "modified",
        what: "file",
        before,
        after,
        bytesWritten: bytes.length,
        contentAfter: content,
        ...(contentBefore !== undefined && { contentBefore })
      })
    })

  readonly remove = (
    given: string,
    { base }: { readonly recursive?: boolean; readonly base?: string } = {}
  ): Effect.Effect<void, PlanError> =>
    Effect.gen({ self: this }, function* () {
      const path = yield* containIn(given)
      const before = yield* this.#stateOf(path, base)
      yield* before === "absent" ? missing(path) : Effect.void
      for (const [name, content] of this.#after) {
        if (name !== path && !name.startsWith(`${path}/`)) continue
        this.#after.delete(name)
        const change = {
          path: name,
          kind: "deleted",
          what: "file",
          before: fingerprintOf(content),
          after: "absent",
          bytesWritten: 0
        } as const
        this.#changes.push({ ...change, contentBefore: content })
      }
    })

  readonly move = (
    from: string,
    to: string,
    { overwrite = false, base }: MoveOptions = {}
  ): Effect.Effect<void, PlanError> =>
    Effect.gen({ self: this }, function* () {
      const path = yield* containIn(from)
      const movedTo = yield* containIn(to)
      const before = yield* this.#stateOf(path, base)
      yield* before === "absent" ? missing(path) : Effect.void
      const isTaken = !overwrite && (yield* this.#stateOf(movedTo)) !== "absent"
      yield* isTaken
        ? toolError("already_exists", `${movedTo} already exists`, { details: { path: movedTo } })
        : Effect.void
      this.#after.set(movedTo, this.#after.get(path) ?? new Uint8Array())
      this.#after.delete(path)
      this.#changes.push({ path, kind: "moved", what: "file", movedTo, before, after: before, bytesWritten: 0 })
    })

  readonly makeDirectory = (given: string): Effect.Effect<void, PlanError> => Effect.asVoid(containIn(given))
  readonly setMode = (given: string): Effect.Effect<void, PlanError> => Effect.asVoid(this.file(given))
  readonly symlink = (given: string): Effect.Effect<void, PlanError> => unsupported(given)
  readonly adopt = (given: string): Effect.Effect<void, PlanError> => unsupported(given)

  readonly commit = <E = never, R = never>(
    again?: (plan: ChangePlan) => Effect.Effect<unknown, E, R>
  ): Effect.Effect<ReadonlyArray<ChangedPath>, CommitError | E, R> =>
    Effect.suspend((): Effect.Effect<ReadonlyArray<ChangedPath>, CommitError | E, R> => {
      const changed = [...this.#seen].find((path) => this.#files.get(path) !== this.#before.get(path))
      if (changed === undefined) {
        for (const path of new Set([...this.#before.keys(), ...this.#after.keys()])) {
          const content = this.#after.get(path)
          if (content === this.#before.get(path)) continue
          if (content === undefined) this.#files.delete(path)
          else this.#files.set(path, content)
        }
        return Effect.succeed(this.#changes)
      }
      if (again === undefined) {
        return toolError("stale_file", `${changed} has changed since it was read`, { details: { path: changed } })
      }
      const fresh = new MemoryPlan(this.#files)
      return Effect.flatMap(again(fresh), () => fresh.commit<E, R>(again))
    })

  #see(path: string): Effect.Effect<void> {
    return Effect.sync(() => this.#seen.add(path))
  }

  /** Fails where the path is not in the state that the caller expects. */
  #stateOf(path: string, base?: string): Effect.Effect<string, PlanError> {
    return Effect.flatMap(this.info(path), (found) => {
      const content = this.#after.get(path)
      const state = content === undefined ? (found?.kind ?? "absent") : fingerprintOf(content)
      return base === undefined || base === state
        ? Effect.succeed(state)
        : toolError("stale_file", `${path} has changed since it was read`, { details: { path } })
    })
  }
}

const missing = (path: string): Effect.Effect<never, ToolError<"file_not_found">> =>
  toolError("file_not_found", `${path} does not exist`, { details: { path } })

const unsupported = (path: string): Effect.Effect<never, ToolError<"write_failed">> =>
  toolError("write_failed", `${path}: a workspace in memory holds regular files only`, { details: { path } })

/** Entry at a path of a workspace in memory. */
export const infoIn = (files: Files, given: string): Effect.Effect<FileInfo, LookError> =>
  Effect.flatMap(containIn(given), (path) => {
    const content = files.get(path)
    if (content !== undefined) return Effect.succeed(fileInfo(path, "file", content.length))
    const isDirectory = path === "." || [...files.keys()].some((name) => name.startsWith(`${path}/`))
    return isDirectory ? Effect.succeed(fileInfo(path, "directory", 0)) : missing(given)
  })

/** Where a path lands in a workspace in memory. */
export const containIn = (path: string): Effect.Effect<string, ContainError> => {
  if (path.includes("\0")) return toolError("invalid_params", "a path can't contain a NUL character")
  if (!path.isWellFormed()) return toolError("invalid_params", "a path can't contain a lone surrogate")
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

const fileInfo = (path: string, kind: FileInfo["kind"], size: number): FileInfo => ({
  path,
  kind,
  size,
  modified: 0,
  mode: 0o644
})

/** A fingerprint by FNV-1a: enough to tell two contents of a test apart without a crypto module. */
export const fingerprintOf = (bytes: Uint8Array): string => {
  let value = 0x811c9dc5
  for (const byte of bytes) value = Math.imul(value ^ byte, 0x01000193) >>> 0
  return `${bytes.length}-${value.toString(16)}`
}
