import { type ChangePlan, type ListError, type PlanError, toolError, type ToolError, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

export interface CopyPathOptions {
  readonly from: string
  readonly to: string
  /** Replace a file that is there. */
  readonly overwrite: boolean
  /** Make the directories on the way. */
  readonly createDirectories: boolean
}

export interface CopiedPath {
  readonly from: string
  readonly to: string
  readonly files: number
  readonly bytes: number
}

/** Entries and bytes of one copy: the plan holds them all until it is committed. */
const mostEntries = 10_000
const mostBytes = 256 * 1024 * 1024

/** Paths that a copy writes, in the order of the tree, without reading any file. */
export const copiedPaths = Effect.fnUntraced(function* ({
  from,
  to
}: Pick<CopyPathOptions, "from" | "to">): Effect.fn.Return<
  ReadonlyArray<string>,
  ListError | ToolError<"file_too_large">,
  Workspace
> {
  const entries = yield* entriesBelow(from)
  return [to, ...entries.map(({ path }) => `${to}/${path}`)]
})

/** Plans a copy of a file, of a link itself, or of a directory with everything in it. */
export const planCopy = Effect.fnUntraced(function* (
  plan: ChangePlan,
  { from, to, overwrite, createDirectories }: CopyPathOptions
): Effect.fn.Return<CopiedPath, PlanError | ListError, Workspace> {
  const workspace = yield* Workspace
  const source = yield* workspace.info(from, { follow: false })
  const target = yield* plan.info(to, { follow: false })
  const place = yield* workspace.contain(to)
  if (`${place}/`.startsWith(`${source.path}/`) || source.path === ".") return yield* ontoItself(from, to)
  if (target !== undefined && (!overwrite || source.kind === "directory" || target.kind !== "file")) {
    return yield* toolError("already_exists", `${to} already exists; nothing was changed`, {
      suggestion:
        target.kind === "file" && source.kind !== "directory"
          ? "Set overwrite to replace it, or choose another name."
          : "Choose another name, or delete it first.",
      details: { path: to }
    })
  }
  const copy = new Copy(plan, createDirectories)
  if (source.kind !== "directory") yield* copy.entry(source.path, to)
  else {
    yield* plan.makeDirectory(to)
    for (const { path, kind } of yield* entriesBelow(source.path)) {
      if (kind === "directory") yield* plan.makeDirectory(`${to}/${path}`)
      else yield* copy.entry(`${source.path}/${path}`, `${to}/${path}`)
    }
  }
  return { from: source.path, to: place, files: copy.files, bytes: copy.bytes }
})

/** Copies entries into a plan and counts them. */
class Copy {
  files = 0
  bytes = 0
  readonly #plan: ChangePlan
  readonly #createDirectories: boolean

  constructor(plan: ChangePlan, createDirectories: boolean) {
    this.#plan = plan
    this.#createDirectories = createDirectories
  }

  entry(from: string, to: string): Effect.Effect<void, PlanError> {
    return Effect.flatMap(this.#plan.info(from, { follow: false }), (info) =>
      info?.kind === "symlink" && info.target !== undefined
        ? this.#link(to, info.target)
        : this.#file(from, to, info?.size ?? 0)
    )
  }

  #link(to: string, target: string): Effect.Effect<void, PlanError> {
    this.files++
    return this.#plan.symlink(to, target)
  }

  #file(from: string, to: string, size: number): Effect.Effect<void, PlanError> {
    this.files++
    this.bytes += size
    if (this.bytes > mostBytes) return tooMuch(`${mostBytes} bytes`)
    return Effect.flatMap(this.#plan.file(from), ({ content, mode }) =>
      // Rights of a set-user-ID program were given to one file, not to copies of it.
      this.#plan.write(to, content, { mode: mode & 0o777, createDirectories: this.#createDirectories })
    )
  }
}

interface Entry {
  readonly path: string
  readonly kind: string
}

/** Paths below a directory; none below anything else. */
const entriesBelow = Effect.fnUntraced(function* (
  path: string
): Effect.fn.Return<ReadonlyArray<Entry>, ListError | ToolError<"file_too_large">, Workspace> {
  const workspace = yield* Workspace
  if ((yield* workspace.info(path, { follow: false })).kind !== "directory") return []
  const entries: Array<Entry> = []
  yield* workspace.walk(path, (entry) => {
    entries.push({ path: entry.path, kind: entry.kind })
    return entries.length > mostEntries ? "stop" : "continue"
  })
  return entries.length > mostEntries ? yield* tooMuch(`${mostEntries} entries`) : entries
})

const tooMuch = (limit: string): Effect.Effect<never, ToolError<"file_too_large">> =>
  toolError("file_too_large", `a copy has at most ${limit}; nothing was changed`, {
    suggestion: "Copy parts of it, or use a command."
  })

const ontoItself = (from: string, to: string): Effect.Effect<never, ToolError<"already_exists">> =>
  toolError("already_exists", `${from} can't be copied into itself; nothing was changed`, {
    suggestion: "Choose a path outside of it.",
    details: { path: to }
  })
