import { closeSync } from "node:fs"

import {
  CurrentCall,
  type ErrorCode,
  type FileInfo,
  isToolError,
  makeToolError,
  type ScannedFile,
  type WorkspaceService
} from "@haft/core"
import * as Effect from "effect/Effect"

import {
  attempt,
  containCodes,
  type ErrorWith,
  fromErrno,
  listCodes,
  lookCodes,
  notADirectory,
  notFound,
  readCodes
} from "../errno.ts"
import {
  fingerprintBytes,
  fingerprintOf,
  kindOf,
  newHash,
  openFile,
  readPlace,
  type ReadOptions,
  repeatUntilDone,
  scanDescriptor,
  stateByMetadata,
  stateByStats
} from "./content.ts"
import { globSource } from "./glob/directory-source.ts"
import { globFiles } from "./glob/glob.ts"
import { type Place, type Root, withHeldPlace, withPlace } from "./paths/containment.ts"
import type { KeptPlace } from "./paths/last-path-cache.ts"
import { readEach } from "./read-many-files.ts"
import type { SecretFiles } from "./secrets/secret-files.ts"
import { readEntries, startWalk } from "./walk.ts"

/** Larger files are handed over by `scan` only. */
const maximumRead = 1024 * 1024 * 1024

/** Smaller files are scanned in one go. */
const mostAtOnce = 256 * 1024

/** Memory for what is let go again soon. */
const briefly = (bytes: number): Buffer => Buffer.allocUnsafe(bytes)

const atMost = (maxBytes: number): number => Math.min(maxBytes, maximumRead)

/** Attempts to resolve a path whose links are replaced meanwhile. */
const mostResolutions = 10

/** Resolves a path again when a link on the way vanished between looking at it and reading it. */
const resolveSteadily = (root: Root, given: string, resolve: () => string): string => {
  for (let left = mostResolutions; left > 0; left--) {
    try {
      return resolve()
    } catch (error) {
      if (!isToolError(error) || error.code !== "file_not_found") throw error
    }
  }
  // A directory that was deleted has no name left.
  if (root.held.lookAgain?.().nlink === 0) {
    throw makeToolError("symlink_blocked", "the workspace was deleted while it was open", {
      suggestion: "Create the directory again, and restart the host.",
      details: { path: given }
    })
  }
  throw makeToolError("symlink_blocked", `${given} could not be resolved: a link on the way keeps changing`, {
    suggestion: "Repeat the call when the link no longer changes.",
    details: { path: given }
  })
}

/** The part of a workspace that changes nothing. */
export type WorkspaceReads = Omit<WorkspaceService, "plan" | "commit" | "onCommit" | "undo" | "previewUndo">

/** A file of any size can be scanned. */
const scanCodes = [...lookCodes, "is_directory", "not_a_regular_file", "secret_path"] as const

/** A directory tree that is open for reading. */
export interface ReadableTree {
  readonly root: Root
  readonly kept: KeptPlace
  readonly secrets: SecretFiles
}

/** Reads of a workspace, all within its root. */
export const readsOf = ({ root, kept, secrets }: ReadableTree): WorkspaceReads => {
  /** Resolves a path under the call's link policy and looks at what is there. */
  const at = <A, const Code extends ErrorCode>(
    codes: ReadonlyArray<Code>,
    given: string,
    use: (place: Place) => A,
    follow = true
  ): Effect.Effect<A, ErrorWith<Code>> =>
    CurrentCall.use((call) =>
      root.reads.shared(
        attempt(codes, () => {
          const place = follow ? kept.take(call, given) : undefined
          return place === undefined
            ? withPlace(root, given, { symlinks: call.symlinks, follow }, use)
            : withHeldPlace(root, place, use)
        })
      )
    )

  const readAt = (place: Place, how: ReadOptions): Uint8Array => {
    secrets.check(place)
    return readPlace(root, place, how)
  }

  const scan: WorkspaceService["scan"] = (given, visit, { fingerprintUpTo = -1 } = {}) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(
        at(scanCodes, given, (place): Opened | ReadAtOnce => {
          const info = infoOf(place)
          secrets.check(place)
          return info.size > 0 && info.size <= mostAtOnce
            ? { info, content: readPlace(root, place, { maxBytes: mostAtOnce, allocate: briefly }) }
            : { info, descriptor: openFile(root, place) }
        }),
        (found) => {
          if ("content" in found) return Effect.succeed(scanAtOnce(found, visit, fingerprintUpTo))
          const close = Effect.sync(() => closeSync(found.descriptor))
          return Effect.ensuring(restore(scanInChunks(found, visit, fingerprintUpTo)), close)
        }
      )
    )

  return {
    root: root.path,
    roots:
      root.named === undefined
        ? [{ name: "", path: root.path, access: "write" }]
        : [...root.named.values()].map(({ name, path, access }) => ({ name, path, access })),
    ...(root.links !== undefined && { links: root.links }),
    contain: (given) =>
      CurrentCall.use((call) =>
        root.reads.shared(attempt(containCodes, () => resolveSteadily(root, given, () => kept.resolve(call, given))))
      ),
    isSecret: (path) => secrets.isSecret(path),
    secretFiles: () => secrets.present(),
    info: (given, { follow } = {}) => at(lookCodes, given, infoOf, follow),
    read: (given, { maxBytes = maximumRead } = {}) =>
      at(readCodes, given, (place) => readAt(place, { maxBytes: atMost(maxBytes) })),
    readEach: (paths, visit, { maxBytes = maximumRead } = {}) =>
      CurrentCall.use(({ symlinks }) =>
        readEach(root, paths, visit, { symlinks, secrets, maxBytes: atMost(maxBytes) })
      ),
    snapshot: (given, { maxBytes = maximumRead } = {}) =>
      at(readCodes, given, (place) => ({
        content: readAt(place, { maxBytes: atMost(maxBytes) }),
        info: infoOf(place)
      })).pipe(Effect.map((read) => ({ ...read, fingerprint: fingerprintBytes(read.content) }))),
    scan,
    list: (given) => at(listCodes, given, (place) => inDirectory(place, () => readEntries(root, heldBase(place)))),
    walk: (given, visit) =>
      at(listCodes, given, (place) => inDirectory(place, () => (readEntries(root, heldBase(place)), place.path))).pipe(
        Effect.flatMap((path) =>
          Effect.acquireUseRelease(
            Effect.sync(() => startWalk(root, path, { visit })),
            (walk) => repeatUntilDone(root.reads.shared(Effect.sync(() => walk.advance(20)))),
            (walk) => Effect.sync(walk.close)
          )
        )
      ),
    glob: (given, pattern, globOptions) =>
      at(listCodes, given, (place) => inDirectory(place, () => place.path)).pipe(
        Effect.flatMap((path) => globFiles(globSource(root), path, pattern, globOptions))
      ),
    fingerprint: (given) =>
      Effect.acquireUseRelease(
        at(lookCodes, given, (place): Opened | string => {
          if (place.found === undefined) return "absent"
          const info = infoOf(place)
          if (info.kind !== "file") return info.kind
          // Even a hash tells something about the content of a short file.
          if (secrets.isSecretFile(place.path, place.found.stats)) return stateByMetadata(place.found.stats)
          return stateByStats(place.found.stats) ?? { info, descriptor: openFile(root, place) }
        }),
        (opened) => {
          if (typeof opened === "string") return Effect.succeed(opened)
          const hash = newHash()
          const hashing = scanDescriptor(opened.descriptor, opened.info.size, (chunk) => (hash.update(chunk), true))
          return Effect.map(hashing, () => fingerprintOf(hash))
        },
        (opened) => (typeof opened === "string" ? Effect.void : Effect.sync(() => closeSync(opened.descriptor)))
      )
  }
}

interface Opened {
  readonly info: FileInfo
  readonly descriptor: number
}

/** A file that was read in one go. */
interface ReadAtOnce {
  readonly info: FileInfo
  readonly content: Uint8Array
}

type Visit = (chunk: Uint8Array) => boolean

const scanAtOnce = ({ info, content }: ReadAtOnce, visit: Visit, fingerprintUpTo: number): ScannedFile =>
  visit(content) && info.size <= fingerprintUpTo ? { ...info, fingerprint: fingerprintBytes(content) } : info

const scanInChunks = (
  { info, descriptor }: Opened,
  visit: Visit,
  fingerprintUpTo: number
): Effect.Effect<ScannedFile> => {
  if (info.size > fingerprintUpTo) return Effect.as(scanDescriptor(descriptor, info.size, visit), info)
  const hash = newHash()
  let isWhole = true
  const hashed = (chunk: Uint8Array): boolean => (hash.update(chunk), (isWhole = visit(chunk)))
  return Effect.map(scanDescriptor(descriptor, info.size, hashed), () =>
    isWhole ? { ...info, fingerprint: fingerprintOf(hash) } : info
  )
}

const infoOf = (place: Place): FileInfo => {
  const { found, given, path } = place
  if (found === undefined) throw notFound(given)
  const { size, mtimeMs, birthtimeMs, atimeMs, mode } = found.stats
  return {
    path,
    kind: kindOf(found.stats),
    size,
    modified: mtimeMs,
    mode: mode & 0o7777,
    created: birthtimeMs,
    accessed: atimeMs
  }
}

const inDirectory = <A>(place: Place, use: () => A): A => {
  const { found, given } = place
  if (found === undefined) throw notFound(given)
  if (!found.stats.isDirectory()) throw notADirectory(given)
  try {
    return use()
  } catch (error) {
    throw fromErrno(error, given)
  }
}

const heldBase = ({ found, directory }: Place): string => (found ?? directory).base
