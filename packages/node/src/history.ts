import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync
} from "node:fs"
import { dirname, join } from "node:path"

import { makeToolError, type ToolError } from "@haft/core"

import type { Root } from "./contain.ts"
import { chunksOf, fingerprintContent, writeFully } from "./content.ts"
import { isErrno, naming } from "./errno.ts"
import { type Content, type FileNode, stateOfNode, withFile } from "./view.ts"

/** One thing a commit did, with what is needed to take it back. */
export type Recorded =
  | {
      readonly did: "write"
      readonly path: string
      readonly before: { readonly state: string; readonly mode: number } | null
      readonly after: string
      /** Absent where the mode stayed: then going back leaves it as it is. */
      readonly changedMode?: boolean
    }
  | {
      readonly did: "delete"
      readonly path: string
      readonly state: string
      readonly mode: number
      readonly target?: string
    }
  | { readonly did: "move"; readonly from: string; readonly to: string; readonly state: string }
  | { readonly did: "make_directory"; readonly path: string }

/** One commit on record. It is put down before the commit happens: a crash can't lose it. */
export interface Entry {
  readonly id: string
  readonly call: string
  readonly run: string
  readonly tool: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly did: ReadonlyArray<Recorded>
  /** Set where what it replaced was too large to keep. */
  readonly tooLarge?: boolean
  /** The entries that this one took back. */
  readonly undoes?: ReadonlyArray<string>
}

type Line = Entry | { readonly cancelled: string }

/** What commits replaced, kept in the state directory so that it can come back. */
export interface History {
  /** A place to gather what one commit replaces. */
  readonly gather: () => { readonly keep: (node: FileNode) => void; readonly tooLarge: () => boolean }
  readonly append: (entry: Entry) => void
  /** The commit of this entry did not happen after all. */
  readonly cancel: (id: string) => void
  /** Oldest first, without the cancelled. */
  readonly entries: () => ReadonlyArray<Entry>
  /** Content that was kept, by its fingerprint. */
  readonly content: (state: string) => Content
}

export const openHistory = (options: {
  readonly root: Root
  readonly directory: string
  readonly capBytes: number
}): History => {
  const { root, directory, capBytes } = options
  const log = join(directory, "entries.jsonl")
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  let total: number | undefined
  endLastLine(log)

  const keepImage = (node: FileNode, state: string): number => {
    const path = imagePath(directory, state)
    const size = sizeOfNode(node)
    // A copy that a crash cut short has another size; then it is written again.
    if (sizeOf(path) === size) return 0
    const descriptor = openImage(path)
    try {
      if (node.small !== undefined) writeFully(descriptor, node.small)
      else if (node.content === undefined) {
        withFile(root, node, (source) => {
          for (const chunk of chunksOf(source)) writeFully(descriptor, chunk)
        })
      } else for (const piece of node.content) writeFully(descriptor, piece)
    } catch (error) {
      rmSync(path, { force: true })
      throw error
    } finally {
      closeSync(descriptor)
    }
    return size
  }

  const readLines = (): Array<Line> => {
    try {
      return readFileSync(log, "utf8").split("\n").flatMap(parseLine)
    } catch (error) {
      if (isErrno(error, "ENOENT")) return []
      throw error
    }
  }
  const readEntries = (): Array<Entry> => {
    const lines = readLines()
    const cancelled = new Set(lines.flatMap((line) => ("cancelled" in line ? [line.cancelled] : [])))
    return lines.filter((line): line is Entry => !("cancelled" in line) && !cancelled.has(line.id))
  }

  /** Forgets the oldest entries until what is kept fits again, with some room to spare. */
  const trim = (entries: ReadonlyArray<Entry>): void => {
    const wanted = new Set<string>()
    let size = 0
    let first = entries.length
    while (first > 0) {
      const images = imagesOf(entries[first - 1]).filter((state) => !wanted.has(state))
      const more = images.reduce((sum, state) => sum + (sizeOf(imagePath(directory, state)) ?? 0), 0)
      if (size + more > capBytes * 0.8) break
      for (const state of images) wanted.add(state)
      size += more
      first--
    }
    const rest = entries.slice(first)
    try {
      writeFileSync(`${log}.new`, rest.map((entry) => `${JSON.stringify(entry)}\n`).join(""), { mode: 0o600 })
      renameSync(`${log}.new`, log)
    } catch (error) {
      rmSync(`${log}.new`, { force: true })
      throw error
    }
    for (const path of imagePaths(directory)) if (!wanted.has(stateOfPath(path))) rmSync(path, { force: true })
    total = size
  }

  return {
    gather: () => {
      let gathered = 0
      let tooLarge = false
      return {
        keep: (node) => {
          const state = stateOfNode(root, node)
          const size = sizeOfNode(node)
          if (tooLarge || gathered + size > capBytes * 0.8) {
            tooLarge = true
            return
          }
          gathered += size
          total = (total ?? totalSize(directory)) + naming(stateName, () => keepImage(node, state))
          node.small = undefined
        },
        tooLarge: () => tooLarge
      }
    },
    append: (entry) =>
      naming(stateName, () => {
        if ((total ?? 0) > capBytes) trim([...readEntries(), entry])
        else appendWhole(log, `${JSON.stringify(entry)}\n`)
      }),
    cancel: (id) =>
      naming(stateName, () => {
        const lines = readFileSync(log)
        const last = lines.lastIndexOf(10, -2) + 1
        // Cutting it off needs no room, which a full disk has none of.
        if (parseLine(lines.toString("utf8", last)).some((line) => "id" in line && line.id === id))
          truncateSync(log, last)
        else appendWhole(log, `${JSON.stringify({ cancelled: id })}\n`)
      }),
    entries: readEntries,
    content: (state) => {
      const path = imagePath(directory, state)
      const content: Content = {
        *[Symbol.iterator]() {
          const descriptor = openSync(path, "r")
          try {
            yield* chunksOf(descriptor)
          } finally {
            closeSync(descriptor)
          }
        }
      }
      if (sizeOf(path) === undefined || fingerprintContent(content) !== state) throw gone(state)
      return content
    }
  }
}

/** A line that a crash cut short must not swallow the next one. */
const endLastLine = (log: string): void => {
  const size = sizeOf(log) ?? 0
  if (size > 0 && readFileSync(log).at(-1) !== 10) appendFileSync(log, "\n")
}

const stateName = "the state directory"

/** A line that did not fit must not stand in the way of the next one. */
const appendWhole = (log: string, line: string): void => {
  const size = sizeOf(log) ?? 0
  try {
    appendFileSync(log, line, { mode: 0o600 })
  } catch (error) {
    if ((sizeOf(log) ?? 0) > size) truncateSync(log, size)
    throw error
  }
}

const gone = (state: string): ToolError<"no_history"> =>
  makeToolError("no_history", "the earlier content is not kept any more; nothing was changed", {
    suggestion: "Bring it back from version control or a copy.",
    details: { state }
  })

const parseLine = (line: string): Array<Line> => {
  if (line === "") return []
  try {
    return [JSON.parse(line) as Line]
  } catch {
    // A line that a crash cut short belongs to a commit that never happened.
    return []
  }
}

const imagesOf = (entry: Entry | undefined): Array<string> =>
  (entry?.did ?? []).flatMap((one) => {
    if (one.did === "write") return one.before === null ? [] : [one.before.state]
    return one.did === "delete" && one.state.startsWith("sha256:") ? [one.state] : []
  })

const imagePath = (directory: string, state: string): string => {
  const hash = state.slice("sha256:".length)
  return join(directory, "images", hash.slice(0, 2), hash.slice(2))
}

const openImage = (path: string): number => {
  try {
    return openSync(path, "w", 0o600)
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    return openSync(path, "w", 0o600)
  }
}

const stateOfPath = (path: string): string => `sha256:${path.split(/[\\/]/).slice(-2).join("")}`

const imagePaths = (directory: string): Array<string> =>
  namesIn(join(directory, "images")).flatMap((group) =>
    namesIn(join(directory, "images", group)).map((name) => join(directory, "images", group, name))
  )

const namesIn = (directory: string): Array<string> => {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (isErrno(error, "ENOENT")) return []
    throw error
  }
}

const totalSize = (directory: string): number =>
  imagePaths(directory).reduce((sum, path) => sum + (sizeOf(path) ?? 0), 0)

const sizeOfNode = (node: FileNode): number => {
  if (node.content === undefined) return node.origin?.size ?? 0
  let size = 0
  for (const piece of node.content) size += piece.length
  return size
}

const sizeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.size
