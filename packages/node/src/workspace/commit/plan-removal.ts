import { type ChangedPath, makeToolError, type ToolError } from "@haft/core"
import * as Effect from "effect/Effect"

import { repeatUntilDone } from "../content.ts"
import type { Recorded } from "../undo/history-log.ts"
import { startWalk } from "../walk.ts"
import { checkWritable, join, modeOf, type Node, stateOfNode, type View } from "./planned-tree.ts"

/** Something that is going to be removed, after what is in it. */
export interface Removal {
  readonly path: string
  /** Looks it up; undefined where nothing is there any more. */
  readonly find: () => Node | undefined
  /** True once what is in it stands in line. */
  readonly isOpen: boolean
}

const sliceMs = 20

/** Deeper trees are not removed: bringing them back, one directory after the other, would take for ever. */
const maximumDepth = 256

/** More files and directories are not removed by one call: planning and keeping them takes about 0.1 ms each. */
const maximumRemoved = 250_000

/** Refuses to remove a directory that holds too much, before any of it is read. */
export const refuseTooMany = (
  { root }: View,
  { path, given, most = maximumRemoved }: { readonly path: string; readonly given: string; readonly most?: number }
): Effect.Effect<void, ToolError<"write_failed">> =>
  Effect.suspend(() => {
    let count = 0
    return Effect.acquireUseRelease(
      Effect.sync(() =>
        startWalk(root, path, { visit: () => (++count > most ? ("stop" as const) : ("continue" as const)) })
      ),
      (walk) => repeatUntilDone(root.reads.shared(Effect.sync(() => walk.advance(sliceMs)))),
      (walk) => Effect.sync(walk.close)
    ).pipe(Effect.andThen(Effect.suspend(() => (count > most ? Effect.fail(tooMany(given, most)) : Effect.void))))
  })

const tooMany = (given: string, most: number): ToolError<"write_failed"> =>
  makeToolError("write_failed", `${given} holds more than ${most} files and directories; nothing was changed`, {
    suggestion: "Delete what is in it in several calls, or all of it with a command that undo can't take back.",
    details: { path: given, maxEntries: most }
  })

/** Hands over nodes that go and all that is in them, what is inside first, for some milliseconds; true when all are done. */
export const removeNext = (
  view: View,
  pending: Array<Removal>,
  { given, remove }: { readonly given: string; readonly remove: (node: Node, path: string) => void }
): boolean => {
  const until = performance.now() + sliceMs
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { find, path, isOpen } = next
    const node = find()
    if (node?.kind === "directory" && !isOpen) {
      if (path.split("/").length > maximumDepth) throw tooDeep(given)
      const inside = view.listed(node)
      if (inside.length > 0 && node.origin !== undefined) checkWritable(view, node.origin, given)
      pending.push({ find: () => node, path, isOpen: true })
      for (const name of inside.toReversed()) {
        pending.push({ find: () => view.child(node, name, "fingerprint"), path: join(path, name), isOpen: false })
      }
    } else if (node !== undefined) remove(node, path)
    if (performance.now() > until) return pending.length === 0
  }
  return true
}

/** A deletion as a change, and what is needed to bring back what goes. */
export const deletionOf = (
  view: View,
  node: Node,
  path: string
): { readonly change: ChangedPath; readonly recorded: Recorded } => {
  const before = stateOfNode(view.root, node)
  const contentBefore = node.kind === "file" ? node.bytes : targetBytes(node)
  const owner = node.kind === "file" ? (node.owner ?? node.origin?.owner) : undefined
  return {
    change: {
      path,
      kind: "deleted",
      what: node.kind,
      before,
      after: "absent",
      bytesWritten: 0,
      ...(contentBefore !== undefined && { contentBefore })
    },
    recorded: {
      did: "delete",
      path,
      state: before,
      mode: modeOf(node) ?? 0o644,
      ...(node.kind === "symlink" && { target: node.target ?? "" }),
      ...(owner !== undefined && owner.uid !== process.geteuid?.() && { owner })
    }
  }
}

const targetBytes = (node: Node): Uint8Array | undefined =>
  node.kind === "symlink" && node.target !== undefined ? Buffer.from(node.target) : undefined

const tooDeep = (given: string): ToolError<"write_failed"> =>
  makeToolError("write_failed", `${given} is more than ${maximumDepth} directories deep; nothing was changed`, {
    suggestion: "Delete it with a command: undo could not bring it back.",
    details: { path: given }
  })
