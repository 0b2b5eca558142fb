import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

import { CurrentCall, type Party } from "./pipeline/call.ts"
import { type ArtifactFile, type ArtifactInfo, Artifacts, noArtifact } from "./services/artifacts.ts"
import { Journal } from "./services/journal.ts"
import { concatBytes } from "./text/concat-bytes.ts"
import { redactText } from "./text/redact.ts"
import { toolError, type ToolError } from "./tool-error.ts"

export interface ArtifactReader {
  /** Reader, who sees only artifacts of its own calls. */
  readonly caller?: Party
}

export interface ArtifactRange extends ArtifactReader {
  /** First byte, from 0. */
  readonly start?: number
  /** Bytes to read; to the end when absent. */
  readonly length?: number
}

/** Bytes of an artifact: text where they are UTF-8, base64 otherwise. */
export type ArtifactContent = {
  readonly address: string
  /** Bytes of the whole artifact. */
  readonly size: number
} & ({ readonly text: string } | { readonly blob: string })

export type ArtifactError = ToolError<"file_not_found" | "file_too_large" | "journal_unavailable">

/** Artifacts for protocols whose clients read resources by themselves, not through a tool. */
export interface HostArtifacts {
  /** Artifacts of a caller in this run, the newest first. */
  readonly list: (reader?: ArtifactReader) => Effect.Effect<ReadonlyArray<ArtifactInfo>>
  /** Reads an artifact of a caller. On record as `artifact_read` before the content is handed out. */
  readonly read: (address: string, range?: ArtifactRange) => Effect.Effect<ArtifactContent, ArtifactError>
}

export const hostArtifacts = Effect.fnUntraced(function* (settings: {
  readonly replyBytes: number
  readonly redactReplies: boolean
}): Effect.fn.Return<HostArtifacts, never, Journal> {
  const journal = yield* Journal
  const artifacts = Option.getOrUndefined(yield* Effect.serviceOption(Artifacts))
  const as = <A, E, R>(caller: Party | undefined, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(CurrentCall, (call) =>
      Effect.provideService(effect, CurrentCall, {
        ...call,
        run: journal.run,
        ...(caller !== undefined && { caller })
      })
    )
  return {
    list: ({ caller } = {}) => (artifacts === undefined ? Effect.succeed([]) : as(caller, artifacts.list)),
    read: Effect.fnUntraced(function* (address, { caller, start = 0, length } = {}) {
      const opened = artifacts === undefined ? Effect.fail(noArtifact(address)) : artifacts.open(address)
      const reading = Effect.flatMap(opened, (file) =>
        readRange(file, address, { start, length, most: settings.replyBytes })
      )
      const result = yield* Effect.result(as(caller, Effect.scoped(reading)))
      yield* journal.append({
        type: "artifact_read",
        at: yield* Clock.currentTimeMillis,
        address,
        ...(caller !== undefined && { caller }),
        ...(result._tag === "Success"
          ? { status: "success", bytes: result.success.bytes.length }
          : { status: "error", error: result.failure.code })
      })
      const { bytes, size } = yield* Effect.fromResult(result)
      const text = utf8TextOf(bytes)
      if (text === undefined) return { address, size, blob: base64Of(bytes) }
      return { address, size, text: settings.redactReplies ? redactText(text) : text }
    })
  }
})

const readRange = Effect.fnUntraced(function* (
  { files, path }: ArtifactFile,
  address: string,
  { start, length, most }: { readonly start: number; readonly length: number | undefined; readonly most: number }
): Effect.fn.Return<
  { readonly bytes: Uint8Array; readonly size: number },
  ToolError<"file_not_found" | "file_too_large">
> {
  const { size } = yield* files.info(path).pipe(Effect.mapError(() => noArtifact(address)))
  const end = Math.min(size, start + (length ?? size))
  if (end - start > most) {
    return yield* toolError("file_too_large", `${address} has ${size} bytes; at most ${most} are read at once`, {
      suggestion: `Read a part of it: ${address}?start=0&length=${most}. Tools read it by lines and search it.`,
      details: { path: address, size }
    })
  }
  const pieces: Array<Uint8Array> = []
  let at = 0
  const take = (chunk: Uint8Array): boolean => {
    const from = Math.max(0, start - at)
    if (from < chunk.length) pieces.push(chunk.slice(from, Math.max(from, end - at)))
    at += chunk.length
    return at < end
  }
  yield* files.scan(path, take).pipe(Effect.mapError(() => noArtifact(address)))
  return { bytes: concatBytes(pieces), size }
})

const utf8TextOf = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

const base64Of = (bytes: Uint8Array): string => {
  let binary = ""
  for (let at = 0; at < bytes.length; at += 8192) binary += String.fromCharCode(...bytes.subarray(at, at + 8192))
  return btoa(binary)
}
