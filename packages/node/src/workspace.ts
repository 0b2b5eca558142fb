import { closeSync, statSync } from "node:fs"

import {
  CurrentCall,
  type FileInfo,
  isToolError,
  type ListError,
  type LookError,
  makeToolError,
  type ReadError,
  type ToolError,
  toolError,
  Workspace,
  type WorkspaceService
} from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { commitChanges } from "./commit.ts"
import { openRoot, type Place, type Root, withPlace } from "./contain.ts"
import { fingerprintOf, inSlices, kindOfStats, newHash, openFile, readWhole, scanDescriptor } from "./content.ts"
import { fromErrno, notFound } from "./errno.ts"
import { openGlobSource } from "./glob-source.ts"
import { globFiles } from "./glob.ts"
import { stateDirectory } from "./state-directory.ts"
import { readEntries, startWalk } from "./walk.ts"

export interface NodeWorkspaceOptions {
  /** The directory to work in. */
  readonly root: string
  /** Where history and the commit journal live, outside the root. A directory of the user's by default. */
  readonly state?: string
  /** Wait until a change would survive a power loss. True by default. */
  readonly durable?: boolean
}

/** Larger files are handed over by `scan` only. */
const maximumRead = 1024 * 1024 * 1024

/** A workspace on the real file system. Nothing outside its root is read or changed, whatever the paths say. */
export const nodeWorkspace = (
  options: NodeWorkspaceOptions
): Layer.Layer<Workspace, ToolError<"file_not_found" | "not_a_directory" | "permission_denied" | "invalid_params">> =>
  Layer.effect(Workspace, Effect.map(open(options), makeWorkspace))

interface OpenWorkspace {
  readonly root: Root
  readonly state: string
  readonly durable: boolean
}

const open = (options: NodeWorkspaceOptions) =>
  Effect.acquireRelease(
    attempt<OpenWorkspace, ToolError<"file_not_found" | "not_a_directory" | "permission_denied" | "invalid_params">>(
      () => {
        const root = openWorkspaceRoot(options.root)
        return { root, state: stateDirectory(options), durable: options.durable ?? true }
      }
    ),
    ({ root }) => Effect.sync(() => root.held.close())
  )

const openWorkspaceRoot = (directory: string): Root => {
  try {
    if (!statSync(directory).isDirectory()) throw notADirectory(directory)
    return openRoot(directory)
  } catch (error) {
    throw fromErrno(error, directory)
  }
}

const makeWorkspace = ({ root, state, durable }: OpenWorkspace): WorkspaceService => {
  /** Resolves a path under the call's link policy and looks at what is there. */
  const at = <A, E extends ToolError>(given: string, use: (place: Place) => A, follow = true): Effect.Effect<A, E> =>
    CurrentCall.use(({ symlinks }) => attempt<A, E>(() => withPlace(root, given, { symlinks, follow }, use)))

  const readInSlices = (given: string, visit: (chunk: Uint8Array) => boolean): Effect.Effect<FileInfo, ReadError> =>
    Effect.acquireUseRelease(
      at<Opened, ReadError>(given, (place) => ({ info: infoOf(place), descriptor: openFile(root, place) })),
      ({ info, descriptor }) => Effect.as(scanDescriptor(descriptor, visit), info),
      ({ descriptor }) => Effect.sync(() => closeSync(descriptor))
    )

  return {
    root: root.path,
    contain: (given) => at(given, ({ path }) => path),
    info: (given, { follow } = {}) => at(given, infoOf, follow),
    read: (given, { maxBytes = maximumRead } = {}) =>
      at(given, (place) => {
        const descriptor = openFile(root, place)
        try {
          return readWhole(descriptor, given, Math.min(maxBytes, maximumRead))
        } finally {
          closeSync(descriptor)
        }
      }),
    scan: readInSlices,
    list: (given) => at(given, (place) => inDirectory(place, () => readEntries(heldBase(place)))),
    walk: (given, visit) =>
      at<string, ListError>(given, (place) =>
        inDirectory(place, () => (readEntries(heldBase(place)), place.path))
      ).pipe(
        Effect.flatMap((path) =>
          Effect.acquireUseRelease(
            Effect.sync(() => startWalk(root, path, visit)),
            (walk) => inSlices(() => walk.advance(20)),
            (walk) => Effect.sync(walk.close)
          )
        )
      ),
    glob: (given, pattern, globOptions) =>
      at<string, ListError>(given, (place) => inDirectory(place, () => place.path)).pipe(
        Effect.flatMap((path) =>
          Effect.acquireUseRelease(
            Effect.sync(() => openGlobSource(root)),
            (source) => globFiles(source, path, pattern, globOptions),
            (source) => Effect.sync(source.close)
          )
        )
      ),
    fingerprint: (given) => {
      const hash = newHash()
      return at<FileInfo | undefined, LookError>(given, (place) =>
        place.found === undefined ? undefined : infoOf(place)
      ).pipe(
        Effect.flatMap((info) => {
          if (info === undefined) return Effect.succeed("absent")
          if (info.kind !== "file") return Effect.succeed(info.kind)
          return readInSlices(given, (chunk) => (hash.update(chunk), true)).pipe(Effect.map(() => fingerprintOf(hash)))
        })
      ) as Effect.Effect<string, LookError>
    },
    commit: (changes) =>
      CurrentCall.use((call) => attempt(() => commitChanges({ root, state, durable }, changes, call))),
    undo: () => toolError("no_history", "there is nothing to undo")
  }
}

interface Opened {
  readonly info: FileInfo
  readonly descriptor: number
}

const infoOf = (place: Place): FileInfo => {
  const { found, given, path } = place
  if (found === undefined) throw notFound(given)
  const { size, mtimeMs, mode } = found.stats
  return { path, kind: kindOfStats(found.stats), size, modified: mtimeMs, mode: mode & 0o7777 }
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

const notADirectory = (given: string): ToolError<"not_a_directory"> =>
  makeToolError("not_a_directory", `${given} is not a directory`, { details: { path: given } })

/** Runs code that throws a ToolError for an expected failure; anything else it throws is a defect. */
const attempt = <A, E extends ToolError>(thunk: () => A): Effect.Effect<A, E> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(thunk())
    } catch (error) {
      if (isToolError(error)) return Effect.fail(error as E)
      throw error
    }
  })
