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
  isLink,
  newFile,
  newPath,
  Outcome,
  type PlannedChange,
  type PlannedFile,
  type PlannedPath,
  textOf
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
  readonly #paths = new Map<string, PlannedPath>()
  readonly #given = new Map<string, PlannedPath>()
  /** Links that were deleted or moved themselves: their names lead nowhere else any more. */
  readonly #links = new Set<string>()

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
    Effect.map(this.#look(path), ({ holds }) => holds !== undefined)

  /** The text that a file has by now. */
  readonly text = (path: string): Effect.Effect<TextFile, PlanError> =>
    Effect.gen({ self: this }, function* () {
      const { planned, content, known } = yield* this.#lookAndRead(path)
      const file = planned.holds
      if (file === undefined) return yield* missing(path)
      if (file.now !== "as it is") return file.now
      if (file.home !== undefined && isLink(file.home)) return yield* linkStays(path)
      const text = known ?? TextFile.decode(content ?? (yield* this.#bytes(file)))
      if (text === undefined) {
        return yield* toolError("binary_file", `${path} is not text; nothing was changed`, {
          suggestion: "Write the file as a whole, or use a command that understands its format.",
          details: { path }
        })
      }
      if (content !== undefined && content.length > largeBytes && planned.base !== undefined) {
        ChangePlan.#lastLarge = { workspace: this.#workspace, path, base: planned.base, text: new WeakRef(text) }
      }
      if (file.home !== undefined) file.before = text
      file.now = text
      return text
    })

  /** Fails when a file that was read is not in a certain state. */
  readonly requireBase = (path: string, base: string): Effect.Effect<void, LookError | ToolError<"stale_file">> =>
    Effect.flatMap(this.#look(path), (planned) =>
      planned.base === base
        ? Effect.void
        : toolError("stale_file", `${path} has changed since it was read; nothing was changed`, {
            suggestion: "Read the file again, then repeat the call.",
            details: { path, fingerprint: planned.base }
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
      const { holds } = yield* this.#look(path)
      if (holds !== undefined) holds.now = edited
      return edited
    })

  /** Puts a file where none is. */
  readonly add = (path: string, text: TextFile): Effect.Effect<void, PlanError> =>
    Effect.map(this.#lookAtNothing(path), (planned) => {
      planned.holds = newFile(text)
    })

  readonly setExecutable = (path: string, executable: boolean): Effect.Effect<void, PlanError> =>
    Effect.gen({ self: this }, function* () {
      const { file } = yield* this.#lookAtFile(path)
      const mode = file.mode ?? 0o644
      if (file.now === "as it is") yield* this.#bytes(file)
      // Who may read it may run it, as git and chmod have it.
      file.newMode = executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111
    })

  /** Takes away what has this name; a link goes itself, and what it leads to stays. */
  readonly remove = (path: string): Effect.Effect<void, PlanError> =>
    Effect.gen({ self: this }, function* () {
      const { planned, file } = yield* this.#lookAtFile(path, { named: true })
      if (file.now === "as it is" && !isLink(planned)) yield* this.#readForDiff(path)
      planned.holds = undefined
    })

  /** Gives what has this name another path, where nothing is. Its mode goes with it. */
  readonly move = (from: string, to: string): Effect.Effect<void, PlanError> =>
    Effect.gen({ self: this }, function* () {
      const { planned: source, file } = yield* this.#lookAtFile(from, { named: true })
      if ((yield* this.#look(to)) === source) return
      const target = yield* this.#lookAtNothing(to)
      // Where something was on disk it is written anew: files that change places can't all be moved at once.
      if (target.disk !== undefined && file.now === "as it is") {
        yield* file.home !== undefined && isLink(file.home) ? linkStays(from) : this.#bytes(file)
      }
      target.holds = file
      source.holds = undefined
    })

  /** Puts a copy where nothing is, of what the file was before the plan: a copy in git's diffs does not depend on their order. */
  readonly copy = (from: string, to: string): Effect.Effect<void, PlanError> =>
    Effect.gen({ self: this }, function* () {
      const { source, isNew } = yield* this.#lookBefore(from)
      const target = yield* this.#lookAtNothing(to)
      const known = isNew ? textOf(source.now) : source.before
      const bytes = known === undefined ? yield* this.#bytes(source) : undefined
      target.holds = {
        home: undefined,
        before: undefined,
        now: known ?? (bytes && TextFile.decode(bytes)) ?? "as it is",
        bytes,
        mode: undefined,
        newMode: isNew ? source.newMode : source.mode && source.mode & 0o777
      }
    })

  /** Everything that will change, as one unified diff. */
  get diff(): string {
    return new Outcome(this.#paths.values()).diff
  }

  /** Makes the changes. A plan that leaves everything as it is touches nothing. */
  readonly commit: Effect.Effect<ReadonlyArray<PlannedChange>, CommitError> = Effect.suspend(() => {
    const outcome = new Outcome(this.#paths.values())
    const { changes } = outcome
    return changes.length === 0
      ? Effect.succeed([])
      : Effect.map(this.#workspace.commit(changes), (made) => outcome.report(made))
  })

  /** The path that a name leads to. Two names of one file are one path. */
  #look(given: string): Effect.Effect<PlannedPath, LookError> {
    return Effect.gen({ self: this }, function* () {
      const seen = this.#given.get(given)
      if (seen !== undefined) return seen
      const link = this.#links.size === 0 ? undefined : yield* this.#info(given, { follow: false })
      const path = link !== undefined && this.#links.has(link.path) ? link.path : yield* this.#workspace.contain(given)
      const known = this.#paths.get(path)
      if (known !== undefined) return known
      const disk = yield* this.#info(given)
      const planned = this.#paths.get(disk?.path ?? path) ?? newPath(path, disk)
      this.#paths.set(path, planned)
      if (disk !== undefined) this.#paths.set(disk.path, planned)
      this.#given.set(given, planned)
      return planned
    })
  }

  /** The same for a name itself: a link at its end is not followed. */
  #lookAtName(given: string): Effect.Effect<PlannedPath, LookError> {
    return Effect.gen({ self: this }, function* () {
      const disk = yield* this.#info(given, { follow: false })
      if (disk?.kind !== "symlink") return yield* this.#look(given)
      const planned = this.#paths.get(disk.path) ?? newPath(disk.path, disk)
      this.#paths.set(disk.path, planned)
      this.#given.set(given, planned)
      this.#links.add(disk.path)
      return planned
    })
  }

  #info(given: string, options?: { readonly follow: boolean }): Effect.Effect<FileInfo | undefined, LookError> {
    return this.#workspace.info(given, options).pipe(
      Effect.catchIf(
        (error) => error.code === "file_not_found",
        () => Effect.succeed(undefined)
      )
    )
  }

  /** The same for a file that will be read: nobody has to look at it twice. */
  #lookAndRead(given: string): Effect.Effect<LookedAt, LookError> {
    const looked = Effect.map(this.#look(given), (planned): LookedAt => ({ planned }))
    if (this.#given.has(given) || this.#links.size > 0) return looked
    return Effect.flatMap(this.#lookAtLarge(given), (large) =>
      large === undefined
        ? this.#workspace.snapshot(given, { maxBytes: maximumBytes }).pipe(
            Effect.map(({ info, content, fingerprint }): LookedAt => {
              const { planned, isNew } = this.#enter(given, info, fingerprint)
              return isNew ? { planned, content } : { planned }
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
        const { planned, isNew } = this.#enter(given, info, fingerprint)
        return isNew ? { planned, known } : { planned }
      }),
      Effect.catch(() => Effect.succeed(undefined))
    )
  }

  #enter(given: string, info: FileInfo, base: string): { readonly planned: PlannedPath; readonly isNew: boolean } {
    const known = this.#paths.get(info.path)
    const planned = known ?? newPath(info.path, info)
    if (known === undefined) planned.base = base
    this.#paths.set(info.path, planned)
    this.#given.set(given, planned)
    return { planned, isNew: known === undefined }
  }

  #lookAtFile(
    path: string,
    { named = false }: { readonly named?: boolean } = {}
  ): Effect.Effect<
    { readonly planned: PlannedPath; readonly file: PlannedFile },
    LookError | ToolError<"is_directory">
  > {
    return Effect.gen({ self: this }, function* () {
      const planned = yield* named ? this.#lookAtName(path) : this.#look(path)
      if (planned.holds === undefined) return yield* missing(path)
      if (planned.disk?.kind === "directory") return yield* namesDirectory(path)
      return { planned, file: planned.holds }
    })
  }

  /** What a path held before the plan; where that is nothing, what the plan put there. */
  #lookBefore(
    path: string
  ): Effect.Effect<{ readonly source: PlannedFile; readonly isNew: boolean }, LookError | ToolError<"is_directory">> {
    return Effect.gen({ self: this }, function* () {
      const { original, holds, disk } = yield* this.#look(path)
      const source = original ?? holds
      if (source === undefined) return yield* missing(path)
      if (disk?.kind === "directory") return yield* namesDirectory(path)
      return { source, isNew: original === undefined }
    })
  }

  #lookAtNothing(path: string): Effect.Effect<PlannedPath, LookError | ToolError<"already_exists">> {
    return this.#look(path).pipe(
      Effect.filterOrElse(
        ({ holds }) => holds === undefined,
        () =>
          toolError("already_exists", `${path} already exists; nothing was changed`, {
            suggestion: "Update it instead, or delete it first.",
            details: { path }
          })
      )
    )
  }

  /** What a file holds on disk. The first look counts: what changes afterwards is stale. */
  #bytes(file: PlannedFile): Effect.Effect<Uint8Array, PlanError> {
    const { bytes, home } = file
    if (bytes !== undefined || home === undefined) return Effect.succeed(bytes ?? new Uint8Array())
    return Effect.map(this.#workspace.snapshot(home.path, { maxBytes: maximumBytes }), ({ content, fingerprint }) => {
      home.base ??= fingerprint
      return (file.bytes = content)
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
  readonly planned: PlannedPath
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

const namesDirectory = (path: string): Effect.Effect<never, ToolError<"is_directory">> =>
  toolError("is_directory", `${path} is a directory; nothing was changed`, {
    suggestion: "Name a file in it.",
    details: { path }
  })

// Its new content would have to go either into what it leads to, which keeps its name, or into a file that is no link.
const linkStays = (path: string): Effect.Effect<never, ToolError<"not_a_regular_file">> =>
  toolError("not_a_regular_file", `${path} is a link, which can't be moved and changed at once; nothing was changed`, {
    suggestion: "Move the link and change what it leads to in two steps.",
    details: { path }
  })
