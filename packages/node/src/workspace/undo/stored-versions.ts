import {
  closeSync,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync
} from "node:fs"
import { join } from "node:path"

import { isErrno, isWithoutLinks, stale } from "../../errno.ts"
import { type RepeatableContent, type FileNode, withFile } from "../commit/planned-tree.ts"
import { chunksOf, fileContent, writeFully } from "../content.ts"
import type { Root } from "../paths/containment.ts"
import { pathOf, type Spots } from "../paths/directory-entries.ts"
import { identityOf, isSame } from "../paths/handles.ts"

/**
 * Store of the files that commits replaced, by fingerprint. Where the disk allows it, the replaced file itself is what is kept: it gets
 * a second name here before it loses its own. As long as it has both, whoever works in the workspace can change it:
 * such an image is neither written to nor relied on.
 */
export interface Images {
  /** True when content of this fingerprint and size is kept already. */
  readonly has: (state: string, size: number) => boolean
  /** True for a file that can be kept as it is, once it is about to go. */
  readonly canLink: (node: FileNode) => boolean
  /** False where it had to be copied after all. */
  readonly link: (spots: Spots, node: FileNode, state: string) => boolean
  /** Takes the second name back from a file that stays where it is after all. */
  readonly unlink: (state: string) => void
  readonly copy: (node: FileNode, state: string) => void
  /** Makes a copy of what still has a name elsewhere; where there is no room for one, it is not kept. */
  readonly detach: (state: string) => void
  readonly size: (state: string) => number
  /** Undefined when there is none. */
  readonly content: (state: string) => RepeatableContent | undefined
  /** Everything that is kept. */
  readonly states: () => ReadonlyArray<string>
  readonly remove: (state: string) => void
  readonly path: ImagePath
}

export type ImagePath = (state: string) => string

export const openImages = (root: Root, directory: string): Images => {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const { dev } = statSync(directory)
  const pathOfState: ImagePath = (state) => join(directory, state.replace(/^sha256:/, "").replace(":", "-"))
  const look = (state: string) => lstatSync(pathOfState(state), { throwIfNoEntry: false })
  const isShared = (state: string): boolean => (look(state)?.nlink ?? 0) > 1

  const copy = (node: FileNode, state: string): void => {
    const path = pathOfState(state)
    rmSync(path, { force: true })
    const descriptor = openSync(path, "wx", 0o600)
    try {
      if (node.content === undefined) {
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
  }

  // A copy that a crash cut short has another size; then it is written again.
  const has = (state: string, size: number): boolean => {
    const found = look(state)
    return found !== undefined && found.size === size && found.nlink === 1
  }

  return {
    has,
    // On Windows the second name of a file that another program has open could not be removed again.
    canLink: ({ content, origin }) =>
      process.platform !== "win32" && content === undefined && origin?.links === 1 && origin.identity.device === dev,
    link: (spots, node, state) => {
      const { origin } = node
      if (origin === undefined) throw new Error("only a file on disk can be kept as it is")
      const path = pathOfState(state)
      const from = pathOf(spots.at(origin.path))
      try {
        linkAnew(from, path)
      } catch (error) {
        if (isErrno(error, "ENOENT")) throw stale(origin.path)
        if (!isWithoutLinks(error) && !isErrno(error, "EXDEV")) throw error
        copy(node, state)
        return false
      }
      if (isSame(identityOf(lstatSync(path)), origin.identity)) return true
      unlinkSync(path)
      throw stale(origin.path)
    },
    unlink: (state) => {
      if (isShared(state)) unlinkSync(pathOfState(state))
    },
    copy,
    detach: (state) => {
      if (!isShared(state)) return
      const path = pathOfState(state)
      try {
        copyFileSync(path, `${path}.new`)
        renameSync(`${path}.new`, path)
      } catch (error) {
        rmSync(`${path}.new`, { force: true })
        if (!isErrno(error, "ENOSPC", "EDQUOT")) throw error
        // The file is still in the workspace, so its content is not lost with this name.
        unlinkSync(path)
      }
    },
    size: (state) => look(state)?.size ?? 0,
    content: (state) => look(state) && fileContent(pathOfState(state)),
    states: () =>
      readdirSync(directory).map((name) => (name.startsWith("stat-") ? name.replace("-", ":") : `sha256:${name}`)),
    remove: (state) => rmSync(pathOfState(state), { force: true }),
    path: pathOfState
  }
}

/** Replaces what an earlier attempt may have left at that path. */
const linkAnew = (from: string, path: string): void => {
  try {
    linkSync(from, path)
  } catch (error) {
    if (!isErrno(error, "EEXIST")) throw error
    unlinkSync(path)
    linkSync(from, path)
  }
}
