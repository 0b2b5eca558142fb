import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"

import { CurrentCall, type ResourceLink } from "../pipeline/call.ts"
import { makeToolError, type ToolError } from "../tool-error.ts"
import { memoryWorkspace } from "./memory-workspace.ts"
import { Workspace, type WorkspaceService } from "./workspace.ts"

/** A file that grows while a call runs. Writing is synchronous, so that a flood needs no queue. */
export interface ArtifactWriter {
  readonly path: string
  readonly write: (chunk: Uint8Array) => void
  /** Bytes that were offered but fell beyond the cap. */
  readonly dropped: () => number
}

/** An artifact as its owner sees it. */
export interface ArtifactInfo {
  /** See {@link artifactAddress}. */
  readonly address: string
  readonly bytes: number
  /** Milliseconds since the epoch. */
  readonly modified: number
}

/** An artifact that is open for reading: the one file at `path` of a read-only workspace. */
export interface ArtifactFile {
  readonly files: WorkspaceService
  readonly path: string
}

/**
 * Store of files that calls leave behind: patches, output, recordings. Never inside the workspace. An artifact belongs
 * to the caller whose call made it, and nobody else can list or open it.
 */
export class Artifacts extends Context.Service<
  Artifacts,
  {
    /** Keeps a whole file under `path`, relative to the run: `diffs/step_0001.patch`. Returns that path. */
    readonly save: (path: string, content: string | Uint8Array) => Effect.Effect<string, ToolError<"write_failed">>
    /** Opens a file that is written piece by piece and closed with the scope. */
    readonly create: (
      path: string,
      options?: { readonly capBytes?: number }
    ) => Effect.Effect<ArtifactWriter, ToolError<"write_failed">, Scope.Scope>
    /** Artifacts of the current caller in this run, the newest first. */
    readonly list: Effect.Effect<ReadonlyArray<ArtifactInfo>>
    /** Opens an artifact of the current caller, of this run or of an earlier one, until the scope closes. */
    readonly open: (address: string) => Effect.Effect<ArtifactFile, ToolError<"file_not_found">, Scope.Scope>
  }
>()("@haft/core/Artifacts") {}

/** Address of an artifact, for tools that read: `artifact:<run>/<path>`. It stays valid when the host restarts. */
export const artifactAddress = (run: string, path: string): string => `artifact:${run}/${path}`

/** Content block that names an artifact, for protocols whose clients can read it. */
export const artifactLink = (address: string, mimeType = "text/plain"): ResourceLink => ({
  type: "resource_link",
  uri: address,
  name: address.slice(address.lastIndexOf("/") + 1),
  mimeType
})

/** Parts of an artifact's address; undefined for any other text. */
export const parseArtifactAddress = (text: string): { readonly run: string; readonly path: string } | undefined => {
  const [, run, path] = /^artifact:([\w-]+)\/((?:\w[\w.-]{0,199}\/)*\w[\w.-]{0,199})$/.exec(text) ?? []
  return run === undefined || path === undefined ? undefined : { run, path }
}

/** The paths of the workspace that a call reads which is given a path or an artifact's address. */
export const readsOf = (given: string): ReadonlyArray<string> =>
  parseArtifactAddress(given) === undefined ? [given] : []

/**
 * Runs what reads one file. Where `given` is the address of an artifact, the artifact takes the place of the workspace,
 * under the path that `read` is called with.
 */
export const readingArtifacts = <A, E, R>(
  given: string,
  read: (path: string) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | ToolError<"file_not_found">, R> => {
  if (parseArtifactAddress(given) === undefined) return read(given)
  const opened = Effect.flatMap(
    Effect.serviceOption(Artifacts),
    Option.match({ onNone: () => Effect.fail(noArtifact(given)), onSome: ({ open }) => open(given) })
  )
  return Effect.scoped(Effect.flatMap(opened, ({ files, path }) => Effect.provideService(read(path), Workspace, files)))
}

/** Failure for an address that leads nowhere, and for the artifact of another caller. */
export const noArtifact = (address: string): ToolError<"file_not_found"> =>
  makeToolError("file_not_found", `there is no artifact ${address}`, {
    suggestion: "Artifacts expire. Repeat the call that made it, or use an address from one of your own replies.",
    details: { path: address }
  })

/** Artifacts in memory, for tests and for hosts that keep nothing. */
export const memoryArtifacts = (files: Map<string, Uint8Array> = new Map()): Layer.Layer<Artifacts> => {
  const owners = new Map<string, string | undefined>()
  const owned = (path: string, caller: { readonly name: string } | undefined): boolean =>
    files.has(path) && owners.get(path) === caller?.name
  return Layer.succeed(Artifacts, {
    save: (path, content) =>
      CurrentCall.useSync(({ caller }) => {
        owners.set(path, caller?.name)
        files.set(path, typeof content === "string" ? new TextEncoder().encode(content) : content)
        return path
      }),
    create: (path, options) =>
      CurrentCall.useSync(({ caller }) => {
        const cap = options?.capBytes ?? Number.POSITIVE_INFINITY
        let dropped = 0
        owners.set(path, caller?.name)
        files.set(path, new Uint8Array())
        return {
          path,
          write: (chunk) => {
            const before = files.get(path) ?? new Uint8Array()
            const kept = chunk.subarray(0, Math.max(0, cap - before.length))
            dropped += chunk.length - kept.length
            const after = new Uint8Array(before.length + kept.length)
            after.set(before)
            after.set(kept, before.length)
            files.set(path, after)
          },
          dropped: () => dropped
        }
      }),
    list: CurrentCall.useSync(({ run = "", caller }) =>
      [...files]
        .filter(([path]) => owned(path, caller))
        .map(([path, content]) => ({ address: artifactAddress(run, path), bytes: content.length, modified: 0 }))
        .toReversed()
    ),
    open: (address) =>
      CurrentCall.use(({ run, caller }) => {
        const parsed = parseArtifactAddress(address)
        const content = parsed === undefined ? undefined : files.get(parsed.path)
        if (parsed === undefined || content === undefined || parsed.run !== run || !owned(parsed.path, caller)) {
          return Effect.fail(noArtifact(address))
        }
        const { path } = parsed
        return Effect.provide(
          Workspace.useSync((workspace) => ({ files: workspace, path })),
          memoryWorkspace({ [path]: content })
        )
      })
  })
}
