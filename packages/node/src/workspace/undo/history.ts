import { mkdirSync } from "node:fs"
import { join } from "node:path"

import { makeToolError, type ToolError } from "@haft/core"

import { namingState } from "../../errno.ts"
import { type RepeatableContent, type FileNode, sizeOfContent, stateOfNode } from "../commit/planned-tree.ts"
import { fingerprintOf, isFileState, newHash } from "../content.ts"
import type { Root } from "../paths/containment.ts"
import type { Spots } from "../paths/directory-entries.ts"
import type { Work } from "../turns.ts"
import { type HistoryEntry, openHistoryLog } from "./history-log.ts"
import { type ImagePath, openImages } from "./stored-versions.ts"

/** Entries that one commit replaces. */
export interface Gathered {
  readonly tooLarge: boolean
  /**
   * Gives files that can be kept as they are their second name, and tells their states by their numbers. From here on a
   * commit that fails has to let them go.
   */
  readonly link: (spots: Spots, onStep?: (name: string) => void) => Work<ReadonlyMap<number, string>>
  /** Takes these names back from files that stay. */
  readonly unlink: () => Work
}

/** Content of a file before a commit. */
export interface StoredVersion {
  readonly content: RepeatableContent
  readonly size: number
  /** Of the content, also where the state is that of a file too large to be hashed at once. */
  readonly fingerprint: string
}

/** Undo history in the state directory: the entries that commits replaced. */
export interface History {
  /** True where these files are small enough to be kept. */
  readonly hasRoomFor: (replaced: ReadonlyArray<FileNode>) => boolean
  /** Keeps what files hold now. */
  readonly gather: (replaced: ReadonlyArray<FileNode>) => Work<Gathered>
  readonly append: (entry: HistoryEntry) => void
  /** The commit of this entry did not happen after all. */
  readonly cancel: (id: string) => void
  /** For a commit during which its host died: a file that was kept may still be in the workspace, so it is copied. */
  readonly detach: (entry: HistoryEntry) => void
  /** Oldest first, without the cancelled. */
  readonly entries: () => ReadonlyArray<HistoryEntry>
  /** Version that was kept, by its state. Reads it once, to see that it is whole. */
  readonly stored: (state: string) => Work<StoredVersion>
  /** The name of a file that was kept as it is. */
  readonly imagePath: ImagePath
}

export const openHistory = (options: {
  readonly root: Root
  readonly directory: string
  readonly capBytes: number
}): History => {
  const { root, directory, capBytes } = options
  /** Size limit of one commit, and the size left after trimming: below the cap, so that not every commit has to trim. */
  const roomBytes = capBytes * 0.8
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const log = openHistoryLog(join(directory, "entries.jsonl"))
  const images = openImages(root, join(directory, "images"))
  /** Files that are going to be kept as they are, by their state. */
  const linking = new Map<string, FileNode>()
  let total: number | undefined

  const sizeKept = (state: string): number => {
    const node = linking.get(state)
    return node === undefined ? images.size(state) : sizeOfNode(node)
  }

  /**
   * Forgets the oldest entries until what is kept fits again, with some room to spare. Those that the newest one is
   * about to take back stay this once: what they replaced has to come from here.
   */
  const trim = (entries: ReadonlyArray<HistoryEntry>): void => {
    const wanted = new Set<string>()
    let size = 0
    const want = (entry: HistoryEntry | undefined, room: number): boolean => {
      const states = new Set(imagesOf(entry).filter((state) => !wanted.has(state)))
      const more = [...states].reduce((sum, state) => sum + sizeKept(state), 0)
      if (size + more > room) return false
      for (const state of states) wanted.add(state)
      size += more
      return true
    }
    let first = entries.length - 1
    const newest = entries[first]
    want(newest, Infinity)
    while (first > 0 && want(entries[first - 1], roomBytes)) first--
    const rest = entries.filter(({ id }, index) => index >= first || newest?.undoes?.includes(id) === true)
    for (const entry of rest) want(entry, Infinity)
    log.rewrite(rest)
    for (const state of images.states()) if (!wanted.has(state)) images.remove(state)
    total = size
  }

  const hasRoomFor: History["hasRoomFor"] = (replaced) =>
    replaced.reduce((sum, node) => sum + sizeOfNode(node), 0) <= roomBytes

  return {
    hasRoomFor,
    *gather(replaced) {
      const sizes = replaced.map(sizeOfNode)
      const tooLarge = !hasRoomFor(replaced)
      linking.clear()
      for (const [index, node] of tooLarge ? [] : replaced.entries()) {
        const state = stateOfNode(root, node)
        const size = sizes[index] ?? 0
        namingState(() => {
          total ??= images.states().reduce((sum, kept) => sum + images.size(kept), 0)
          if (linking.has(state) || images.has(state, size)) return
          total += size
          if (images.canLink(node)) linking.set(state, node)
          else images.copy(node, state)
        })
        yield
      }
      return {
        tooLarge,
        *link(spots, onStep) {
          const linked = new Map<number, string>()
          for (const [state, node] of linking) {
            const isLinked = namingState(() => images.link(spots, node, state))
            if (isLinked && node.origin !== undefined) linked.set(node.origin.identity.number, state)
            onStep?.("kept")
            yield
          }
          return linked
        },
        *unlink() {
          for (const state of linking.keys()) {
            images.unlink(state)
            yield
          }
        }
      }
    },
    append: (entry) =>
      namingState(() => {
        if ((total ?? 0) > capBytes) trim([...log.entries(), entry])
        else log.append(entry)
      }),
    cancel: (id) => namingState(() => log.cancel(id)),
    detach: (entry) => namingState(() => imagesOf(entry).forEach(images.detach)),
    entries: log.entries,
    *stored(state) {
      const content = images.content(state)
      if (content === undefined) throw gone(state)
      const size = images.size(state)
      const fingerprint = yield* fingerprintInTurns(content)
      // Content that is too large to be hashed when it is planned is known by its size.
      const isWhole = state.startsWith("stat:") ? state.startsWith(`stat:${size}-`) : fingerprint === state
      if (!isWhole) throw gone(state)
      return { content, size, fingerprint }
    },
    imagePath: images.path
  }
}

function* fingerprintInTurns(content: RepeatableContent): Work<string> {
  const hash = newHash()
  let isFirst = true
  for (const piece of content) {
    if (!isFirst) yield
    isFirst = false
    hash.update(piece)
  }
  return fingerprintOf(hash)
}

const gone = (state: string): ToolError<"no_history"> =>
  makeToolError("no_history", "the earlier content is not kept any more; nothing was changed", {
    suggestion: "Restore it from version control or a backup.",
    details: { state }
  })

const imagesOf = (entry: HistoryEntry | undefined): Array<string> =>
  (entry?.did ?? []).flatMap((one) => {
    if (one.did === "write") return one.before === null ? [] : [one.before.state]
    return one.did === "delete" && isFileState(one.state) ? [one.state] : []
  })

const sizeOfNode = ({ content, origin }: FileNode): number =>
  content === undefined ? (origin?.size ?? 0) : sizeOfContent(content)
