import { closeSync, constants, mkdirSync, openSync, readFileSync, writeSync } from "node:fs"
import { dirname, join } from "node:path"

import { Artifacts, Journal, makeToolError, type ToolError } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { hasCode, whyNotWritten } from "../errno.ts"
import { writeFully } from "../workspace/content.ts"

export interface FileArtifactsOptions {
  /** The state directory; artifacts go to `runs/<run>/` below it. */
  readonly directory: string
  /** The most one artifact may hold; 256 MiB by default. */
  readonly capBytes?: number
}

/**
 * Artifacts as files of the journal's run. A path is made of plain names, so it stays below the run, and never
 * names the record itself. Saving a second time under one path replaces the first.
 */
export const fileArtifacts = (options: FileArtifactsOptions): Layer.Layer<Artifacts, never, Journal> =>
  Layer.effect(
    Artifacts,
    Journal.useSync(({ run }) =>
      artifactsIn(join(options.directory, "runs", run), options.capBytes ?? 256 * 1024 * 1024)
    )
  )

const artifactsIn = (directory: string, maximum: number): typeof Artifacts.Service => ({
  save: (path, content) =>
    saving(path, () => {
      const descriptor = openNew(directory, path)
      try {
        const bytes = typeof content === "string" ? Buffer.from(content) : content
        writeFully(descriptor, bytes.subarray(0, maximum))
        return path
      } finally {
        closeSync(descriptor)
      }
    }),
  create: (path, { capBytes = maximum } = {}) =>
    Effect.acquireRelease(
      saving(path, () => openNew(directory, path)),
      (descriptor) => Effect.sync(() => closeSync(descriptor))
    ).pipe(Effect.map((descriptor) => writerOf(path, descriptor, Math.min(capBytes, maximum)))),
  read: (path) =>
    Effect.try({
      try: () => readFileSync(join(directory, artifactName(path))),
      catch: () => makeToolError("file_not_found", `there is no artifact ${path}`, { details: { path } })
    })
})

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

const openNew = (directory: string, path: string): number => {
  const file = join(directory, artifactName(path))
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  return openSync(file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600)
}

/** The path itself where it can name an artifact: plain names, so no `..`, nothing hidden, nothing absolute. */
export const artifactName = (path: string): string => {
  const names = path.split("/")
  const isPlain = names.every((name) => /^\w[\w.-]{0,199}$/.test(name))
  if (!isPlain || path === "events.jsonl" || path === "session.log") throw new Error("not a name for an artifact")
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
