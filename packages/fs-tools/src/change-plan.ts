import {
  type CommitError,
  type FileInfo,
  type LookError,
  type ReadError,
  type ToolError,
  toolError,
  Workspace,
  type WorkspaceService
} from "@haft/core"
import * as Effect from "effect/Effect"

import {
  diffOf,
  isChanged,
  newFile,
  type PlannedChange,
  type PlannedFile,
  removalsOf,
  reportOf,
  writesOf
} from "./planned-file.ts"
import { type Replacement, TextFile } from "./text-file.ts"

/** Larger files are not edited: their text would not fit into one string. */
const maximumBytes = 400 * 1024 * 1024

const largeBytes = 1024 * 1024

export type PlanError = ReadError | ToolError<"file_too_large" | "binary_file" | "already_exists" | "write_failed">

/**
 * The workspace as it will be. Changes are planned here one after the other, against files that are read
 * once; then all are made, or none.
 */
export class ChangePlan {
  readonly #workspace: WorkspaceService
  readonly #files = new Map<string, PlannedFile>()
  readonly #given = new Map<string, PlannedFile>()

  // A large file is planned twice within moments, for the preview and for the change itself.
  static #lastLarge:
    | {
        readonly workspace: WorkspaceService
        readonly path: string
        readonly base: string
        readonly text: WeakRef<TextFile>
      }
    | undefined

  private constructor(workspace: WorkspaceService) {
    this.#workspace = workspace
  }

  static readonly make: Effect.Effect<ChangePlan, never, Workspace> = Workspace.useSync(
    (workspace) => new ChangePlan(workspace)
  )

  readonly exists = (path: string): Effect.Effect<boolean, LookError> =>
    Effect.map(this.#look(path), ({ now }) => now !== "absent")

  /** The text that a file has by now. */
  readonly text = (path: string): Effect.Effect<TextFile, PlanError> =>
    Effect.gen({ self: this }, function* () {
      const { file, content, known } = yield* this.#lookAndRead(path)
      if (file.now === "absent") return yield* missing(path)
      if (file.now !== "on disk") return file.now
      const origin = file.movedFrom ?? file
      const text = known ?? TextFile.decode(content ?? (yield* this.#read(origin)))
      if (text === undefined) {
        return yield* toolError("binary_file", `${path} is not text; nothing was changed`, { details: { path } })
      }
      if (content !== undefined && content.length > largeBytes && file.base !== undefined) {
        ChangePlan.#lastLarge = { workspace: this.#workspace, path, base: file.base, text: new WeakRef(text) }
      }
      origin.before = text
      file.now = text
      return text
    })

  /** Fails when a file that was read is not in a certain state. */
  readonly requireBase = (path: string, base: string): Effect.Effect<void, LookError | ToolError<"stale_file">> =>
    Effect.flatMap(this.#look(path), (file) =>
      file.base === base
        ? Effect.void
        : toolError("stale_file", `${path} has changed since it was read; nothing was changed`, {
            suggestion: "Read the file again, then repeat the call.",
            details: { path, fingerprint: file.base }
          })
    )

  /** Replaces stretches of a file's text. A Latin-1 file takes only characters that Latin-1 has. */
  readonly edit = (path: string, replacements: ReadonlyArray<Replacement>): Effect.Effect<TextFile, PlanError> =>
    Effect.gen({ self: this }, function* () {
      const text = yield* this.text(path)
      for (const replacement of replacements) {
        const character = text.firstUnencodable(replacement.text)
        if (character === undefined) continue
        return yield* toolError(
          "write_failed",
          `${path} is ${text.encoding} text, which has no bytes for ${JSON.stringify(character)}; nothing was changed`,
          { suggestion: "Use other characters, or write the whole file anew as UTF-8.", details: { path } }
        )
      }
      // A file whose text stays is left alone.
      if (replacements.every(({ start, end, text: now }) => text.text.slice(start, end) === now)) return text
      const edited = text.replace(replacements)
      const file = yield* this.#look(path)
      file.now = edited
      return edited
    })

  /** Puts a file where none is. */
  readonly add = (path: string, text: TextFile): Effect.Effect<void, PlanError> =>
    Effect.map(this.#lookAtNothing(path), (file) => {
      file.now = text
    })

  readonly setExecutable = (path: string, executable: boolean): Effect.Effect<void, PlanError> =>
    Effect.gen({ self: this }, function* () {
      const file = yield* this.#look(path)
      const mode = file.mode ?? 0o644
      if (file.now === "on disk") {
        file.bytes = yield* this.#read(file.movedFrom ?? file)
      }
      // Who may read it may run it, as git and chmod have it.
      file.newMode = executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111
    })

  readonly remove = (path: string): Effect.Effect<void, PlanError> =>
    Effect.gen({ self: this }, function* () {
      const file = yield* this.#lookAtFile(path)
      if (file.now === "on disk") yield* this.#readForDiff(path)
      file.now = "absent"
    })

  /** Gives a file another path, where nothing is. Its mode goes with it. */
  readonly move = (from: string, to: string): Effect.Effect<void, PlanError> =>
    Effect.gen({ self: this }, function* () {
      const source = yield* this.#lookAtFile(from)
      const target = yield* this.#lookAtNothing(to)
      target.now = source.now
      target.movedFrom = source
      target.mode = source.mode
      source.now = "absent"
    })

  readonly copy = (from: string, to: string): Effect.Effect<void, PlanError> =>
    Effect.gen({ self: this }, function* () {
      const text = yield* this.text(from)
      const source = yield* this.#look(from)
      const target = yield* this.#lookAtNothing(to)
      target.now = text
      target.newMode = source.mode
    })

  /** Everything that will change, as one unified diff. */
  get diff(): string {
    return this.#changed.map(diffOf).join("")
  }

  /** Makes the changes. A plan that leaves everything as it is touches nothing. */
  readonly commit: Effect.Effect<ReadonlyArray<PlannedChange>, CommitError> = Effect.suspend(() => {
    const files = this.#changed
    if (files.length === 0) return Effect.succeed([])
    // What goes away goes first, so that a directory can take a file's place.
    const changes = [...files.flatMap(removalsOf), ...files.flatMap(writesOf)]
    return Effect.map(this.#workspace.commit(changes), (made) => {
      const arrived = new Map(
        made.flatMap((one) => (one.kind === "deleted" ? [] : [[one.movedTo ?? one.path, one] as const]))
      )
      return files.flatMap((file) => reportOf(file, arrived.get(file.path)))
    })
  })

  get #changed(): ReadonlyArray<PlannedFile> {
    const files = [...new Set(this.#files.values())]
    const movedAway = new Set(files.map(({ movedFrom }) => movedFrom))
    return files.filter((file) => isChanged(file) && !movedAway.has(file))
  }

  /** The file that a path leads to. Two names of one file are one file. */
  #look(given: string): Effect.Effect<PlannedFile, LookError> {
    return Effect.gen({ self: this }, function* () {
      const seen = this.#given.get(given)
      if (seen !== undefined) return seen
      const path = yield* this.#workspace.contain(given)
      const known = this.#files.get(path)
      if (known !== undefined) return known
      const disk = yield* this.#workspace.info(given).pipe(
        Effect.catchIf(
          (error) => error.code === "file_not_found",
          () => Effect.succeed(undefined)
        )
      )
      const file = this.#files.get(disk?.path ?? path) ?? newFile(path, disk)
      this.#files.set(path, file)
      if (disk !== undefined) this.#files.set(disk.path, file)
      this.#given.set(given, file)
      return file
    })
  }

  /** The same for a file that will be read: nobody has to look at it twice. */
  #lookAndRead(given: string): Effect.Effect<LookedAt, LookError> {
    const looked = Effect.map(this.#look(given), (file): LookedAt => ({ file }))
    if (this.#given.has(given)) return looked
    return Effect.flatMap(this.#lookAtLarge(given), (large) =>
      large === undefined
        ? this.#workspace.snapshot(given, { maxBytes: maximumBytes }).pipe(
            Effect.map(({ info, content, fingerprint }): LookedAt => {
              const { file, isNew } = this.#enter(given, info, fingerprint)
              return isNew ? { file, content } : { file }
            }),
            Effect.catch(() => looked)
          )
        : Effect.succeed(large)
    )
  }

  /** The last large file, if it is this one and still as it was: it need not be in memory twice. */
  #lookAtLarge(given: string): Effect.Effect<LookedAt | undefined> {
    const last = ChangePlan.#lastLarge
    const known = last?.workspace === this.#workspace && last.path === given ? last.text.deref() : undefined
    if (last === undefined || known === undefined) return Effect.succeed(undefined)
    return Effect.all([this.#workspace.fingerprint(given), this.#workspace.info(given)]).pipe(
      Effect.map(([fingerprint, info]): LookedAt | undefined => {
        if (fingerprint !== last.base) return undefined
        const { file, isNew } = this.#enter(given, info, fingerprint)
        return isNew ? { file, known } : { file }
      }),
      Effect.catch(() => Effect.succeed(undefined))
    )
  }

  #enter(given: string, info: FileInfo, base: string): { readonly file: PlannedFile; readonly isNew: boolean } {
    const known = this.#files.get(info.path)
    const file = known ?? newFile(info.path, info)
    if (known === undefined) file.base = base
    this.#files.set(info.path, file)
    this.#given.set(given, file)
    return { file, isNew: known === undefined }
  }

  #lookAtFile(path: string): Effect.Effect<PlannedFile, LookError | ToolError<"is_directory">> {
    return Effect.gen({ self: this }, function* () {
      const file = yield* this.#look(path)
      if (file.now === "absent") return yield* missing(path)
      if (file.disk?.kind !== "directory") return file
      return yield* toolError("is_directory", `${path} is a directory; nothing was changed`, { details: { path } })
    })
  }

  #lookAtNothing(path: string): Effect.Effect<PlannedFile, LookError | ToolError<"already_exists">> {
    return this.#look(path).pipe(
      Effect.filterOrElse(
        ({ now }) => now === "absent",
        () =>
          toolError("already_exists", `${path} already exists; nothing was changed`, {
            suggestion: "Update it instead, or delete it first.",
            details: { path }
          })
      )
    )
  }

  #read(file: PlannedFile): Effect.Effect<Uint8Array, PlanError> {
    return Effect.map(this.#workspace.snapshot(file.path, { maxBytes: maximumBytes }), ({ content, fingerprint }) => {
      file.base = fingerprint
      return content
    })
  }

  #readForDiff(path: string): Effect.Effect<void, PlanError> {
    return this.text(path).pipe(
      Effect.asVoid,
      Effect.catchIf(
        (error) => error.code === "binary_file" || error.code === "file_too_large",
        () => Effect.void
      )
    )
  }
}

interface LookedAt {
  readonly file: PlannedFile
  /** What was read, if it was. */
  readonly content?: Uint8Array
  /** The text, if it was in memory. */
  readonly known?: TextFile
}

const missing = (path: string): Effect.Effect<never, ToolError<"file_not_found">> =>
  toolError("file_not_found", `${path} does not exist; nothing was changed`, {
    suggestion: "Check the path, or list the directory.",
    details: { path }
  })
