import { closeSync } from "node:fs"

import { type ChangedPath, type Content, diffOf, netChanges, type PlanError } from "@haft/core"
import * as Effect from "effect/Effect"

import { attempt, notARegularFile, planCodes } from "../../errno.ts"
import { openFile, readInSlices, tooLarge } from "../content.ts"
import { withResolved } from "../paths/containment.ts"
import type { FileNode, View } from "./planned-tree.ts"

/** Content of a file in a plan: as planned, or read from the disk once. */
export const contentOfNode = (
  { root }: View,
  node: FileNode,
  { given, maxBytes }: { readonly given: string; readonly maxBytes: number }
): Effect.Effect<Content, PlanError> => {
  if (node.bytes !== undefined) return Effect.succeed(node.bytes)
  if (Array.isArray(node.content)) return Effect.succeed(node.content as Array<Uint8Array>)
  const { origin } = node
  if (origin === undefined) return Effect.fail(notARegularFile(given))
  const opened = root.reads.shared(
    attempt(planCodes, () => {
      if (origin.size > maxBytes) throw tooLarge(given, origin.size, maxBytes)
      return withResolved(root, origin.path, (place) => openFile(root, place))
    })
  )
  return Effect.acquireUseRelease(
    opened,
    (descriptor) => readInSlices(descriptor, origin.size),
    (descriptor) => Effect.sync(() => closeSync(descriptor))
  ).pipe(
    Effect.map(({ content, fingerprint }) => {
      node.bytes = content
      node.fingerprint ??= fingerprint
      return content
    })
  )
}

/** Content that a plan gives a file. */
export const plannedContent = (view: View, path: string): Iterable<Uint8Array> => {
  const node = view.find(path.split("/"))
  return (node?.kind === "file" && node.content) || []
}

/** The changes of a plan at some paths as one diff, with content that nobody has read yet; of secret files only the names. */
export const diffOfPlan = (
  view: View,
  changes: ReadonlyArray<ChangedPath>,
  { isShown, isSecret }: Record<"isShown" | "isSecret", (path: string) => boolean>
): Effect.Effect<string, PlanError> => {
  const net = netChanges(changes).filter(({ path }) => isShown(path))
  const gone = new Set(net.flatMap(({ path, kind, what }) => (kind === "deleted" && what === "directory" ? path : [])))
  // A directory that goes is shown by the names in it.
  const shown = (change: ChangedPath): Effect.Effect<ChangedPath, PlanError> =>
    gone.has(directoryOf(change.path)) || isSecret(change.path) ? Effect.succeed(change) : withContent(view, change)
  return Effect.flatMap(Effect.forEach(net, shown), (all) => diffOf(all, isSecret))
}

/** Larger files are not read to be shown in a diff. */
const shownBytes = 16 * 1024 * 1024

const withContent = (view: View, change: ChangedPath): Effect.Effect<ChangedPath, PlanError> => {
  const { path, kind, what, movedTo, before, after } = change
  if (what !== "file" || before === after) return Effect.succeed(change)
  const node = kind === "created" || change.contentBefore !== undefined ? undefined : view.original(path)
  const read =
    node?.kind === "file"
      ? contentOfNode(view, node, { given: path, maxBytes: shownBytes }).pipe(Effect.orElseSucceed(() => undefined))
      : Effect.succeed(undefined)
  return Effect.map(read, (contentBefore) => {
    const isKnown = kind === "deleted" || change.contentAfter !== undefined
    const contentAfter = isKnown ? undefined : collect(plannedContent(view, movedTo ?? path))
    return { ...(contentBefore && { contentBefore }), ...(contentAfter && { contentAfter }), ...change }
  })
}

/** Content as a whole; undefined where it is too much to show. */
const collect = (content: Iterable<Uint8Array>): Content | undefined => {
  const pieces: Array<Uint8Array> = []
  let size = 0
  for (const piece of content) {
    size += piece.length
    if (size > shownBytes) return undefined
    // A piece is only valid until the next one is asked for.
    pieces.push(Uint8Array.from(piece))
  }
  return pieces
}

const directoryOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")))
