import { appendFileSync, closeSync, constants, mkdirSync, openSync, rmSync, statSync, writeSync } from "node:fs"
import { dirname, join } from "node:path"

import {
  artifactAddress,
  type ArtifactFile,
  type ArtifactInfo,
  Artifacts,
  CurrentCall,
  Journal,
  makeToolError,
  noArtifact,
  parseArtifactAddress,
  type ToolError
} from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

import { hasCode, whyNotWritten } from "../errno.ts"
import { writeFully } from "../workspace/content.ts"
import { readOnlyWorkspace } from "../workspace/workspace.ts"
import { ownersFile, ownersIn, type Owners } from "./artifact-owners.ts"
import { expireArtifacts } from "./expire-artifacts.ts"

export interface FileArtifactsOptions {
  /** The state directory; artifacts go to `runs/<run>/` below it. */
  readonly directory: string
  /** The most one artifact may hold; 256 MiB by default. */
  readonly capBytes?: number
  /** The most that all artifacts of a run may hold, 1 GiB by default: the oldest are removed first. */
  readonly runBytes?: number
  /** Days after which output, replies and recordings of an ended run are removed; 30 by default. */
  readonly keepDays?: number
}

/**
 * Artifacts as files of the journal's run. A path is made of plain names, so it stays below the run, and never
 * names the record itself. Saving a second time under one path replaces the first.
 */
export const fileArtifacts = (options: FileArtifactsOptions): Layer.Layer<Artifacts, never, Journal> =>
  Layer.effect(
    Artifacts,
    Journal.useSync(({ run }) => {
      const { directory, capBytes = 256 * 1024 * 1024, runBytes = 1024 ** 3, keepDays = 30 } = options
      const store = new ArtifactStore(directory, run, { capBytes, runBytes, keepDays })
      return {
        save: (path, content) =>
          CurrentCall.use(({ caller }) => saving(path, () => store.save(path, content, caller?.name))),
        create: (path, { capBytes: wanted = capBytes } = {}) =>
          Effect.acquireRelease(
            CurrentCall.use(({ caller }) => saving(path, () => store.open(path, caller?.name))),
            (descriptor) =>
              Effect.sync(() => {
                closeSync(descriptor)
                store.finish(path)
              })
          ).pipe(Effect.map((descriptor) => writerOf(path, descriptor, Math.min(wanted, capBytes)))),
        list: CurrentCall.useSync(({ caller }) => store.list(caller?.name)),
        open: (address) => CurrentCall.use(({ caller }) => openOwned(directory, address, caller?.name))
      }
    })
  )

interface Limits {
  readonly capBytes: number
  readonly runBytes: number
  readonly keepDays: number
}

/** Artifacts of one run, in the order they were made. */
class ArtifactStore {
  readonly #state: string
  readonly #run: string
  readonly #limits: Limits
  readonly #owners: Map<string, string | undefined> = new Map()
  /** Bytes of the artifacts that are complete. */
  readonly #finished: Map<string, number> = new Map()
  #bytes = 0

  constructor(state: string, run: string, limits: Limits) {
    this.#state = state
    this.#run = run
    this.#limits = limits
  }

  get #directory(): string {
    return join(this.#state, "runs", this.#run)
  }

  save(path: string, content: string | Uint8Array, owner: string | undefined): string {
    const descriptor = this.open(path, owner)
    try {
      const bytes = typeof content === "string" ? Buffer.from(content) : content
      writeFully(descriptor, bytes.subarray(0, this.#limits.capBytes))
    } finally {
      closeSync(descriptor)
    }
    this.finish(path)
    return path
  }

  open(path: string, owner: string | undefined): number {
    const file = join(this.#directory, artifactName(path))
    if (this.#owners.size === 0) expireArtifacts(this.#state, this.#limits.keepDays)
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    // On disk before the content is: without it, somebody else could read the artifact in a later run.
    if (owner !== undefined) this.#recordOwner(path, owner)
    this.#owners.delete(path)
    this.#owners.set(path, owner)
    this.#forget(path)
    return openSync(file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600)
  }

  finish(path: string): void {
    const size = this.#stats(path)?.size
    if (size === undefined) return
    this.#finished.set(path, size)
    this.#bytes += size
    for (const oldest of this.#finished.keys()) {
      if (this.#bytes <= this.#limits.runBytes || oldest === path) return
      rmSync(join(this.#directory, oldest), { force: true })
      this.#owners.delete(oldest)
      this.#forget(oldest)
    }
  }

  list(owner: string | undefined): ReadonlyArray<ArtifactInfo> {
    return [...this.#owners]
      .filter(([, name]) => name === owner)
      .toReversed()
      .flatMap(([path]) => {
        const stats = this.#stats(path)
        const address = artifactAddress(this.#run, path)
        return stats === undefined ? [] : [{ address, bytes: stats.size, modified: stats.mtimeMs }]
      })
  }

  #recordOwner(path: string, owner: string): void {
    appendFileSync(join(this.#directory, ownersFile), `${JSON.stringify({ path, owner })}\n`, { mode: 0o600 })
  }

  #stats(path: string) {
    return statSync(join(this.#directory, path), { throwIfNoEntry: false })
  }

  #forget(path: string): void {
    this.#bytes -= this.#finished.get(path) ?? 0
    this.#finished.delete(path)
  }
}

/** Opens an artifact of any run, if it belongs to the caller. */
const openOwned = (
  state: string,
  address: string,
  caller: string | undefined
): Effect.Effect<ArtifactFile, ToolError<"file_not_found">, Scope.Scope> => {
  const parsed = parseArtifactAddress(address)
  if (parsed === undefined || !isReadable(parsed.path)) return Effect.fail(noArtifact(address))
  const directory = join(state, "runs", parsed.run)
  return readOnlyWorkspace(directory).pipe(
    Effect.tap((files) => files.info(parsed.path)),
    Effect.map((files) => ({ files, path: parsed.path })),
    Effect.mapError(() => noArtifact(address)),
    Effect.filterOrFail(
      () => isOwnedBy(ownersIn(directory), parsed.path, caller),
      () => noArtifact(address)
    )
  )
}

const isOwnedBy = (owners: Owners | undefined, path: string, caller: string | undefined): boolean =>
  owners !== undefined && owners.get(path) === caller

// Contents of events belong to the audit log: whose they are is not known by their names.
const isReadable = (path: string): boolean => {
  try {
    return !artifactName(path).startsWith("contents/")
  } catch {
    return false
  }
}

const writerOf = (path: string, descriptor: number, cap: number) => {
  let written = 0
  let dropped = 0
  return {
    path,
    write: (chunk: Uint8Array) => {
      const room = chunk.subarray(0, Math.max(0, cap - written))
      let kept = 0
      try {
        while (kept < room.length) kept += writeSync(descriptor, room, kept)
      } catch (error) {
        // A full disk must not end the command whose output this is: what is missing is counted.
        if (!hasCode(error)) throw error
      }
      written += kept
      dropped += chunk.length - kept
    },
    dropped: () => dropped
  }
}

const { O_WRONLY, O_CREAT, O_TRUNC } = constants
const O_NOFOLLOW = constants.O_NOFOLLOW ?? 0

/** Files of a run that are not artifacts. */
const recordFiles: ReadonlyArray<string> = ["events.jsonl", "session.log", ownersFile]

/** The path itself where it can name an artifact: plain names, so no `..`, nothing hidden, nothing absolute. */
export const artifactName = (path: string): string => {
  const names = path.split("/")
  const isPlain = names.every((name) => /^\w[\w.-]{0,199}$/.test(name))
  if (!isPlain || recordFiles.includes(path)) throw new Error("not a name for an artifact")
  return path
}

const saving = <A>(path: string, work: () => A): Effect.Effect<A, ToolError<"write_failed">> =>
  Effect.try({
    try: work,
    catch: (cause) =>
      makeToolError("write_failed", `the artifact ${path} could not be kept: ${whyNotWritten(cause)}`, {
        details: { path }
      })
  })
