import { resolve } from "node:path"

import { makeToolError } from "@haft/core"

import { chooseTechnique, type Held, type Technique } from "./handles.ts"
import { canonicalPath } from "./name-on-disk.ts"

/** A workspace root that this process has open. Programs are bound to its descriptor, not to its path. */
export interface OpenRoot {
  /** Absolute, without links, names as they are listed. */
  readonly path: string
  /** As the host named it, perhaps through a link. */
  readonly alias: string
  readonly technique: Technique
  readonly held: Held
  readonly close: () => void
}

const roots = new Map<string, OpenRoot & { users: number }>()

/**
 * Opens a workspace root, or shares the descriptor of one that is open: a directory that was put in its place meanwhile
 * is not the workspace.
 */
export const openSharedRoot = (directory: string, technique?: Technique): OpenRoot => {
  const alias = resolve(directory)
  const known = [...roots.values()].find(
    (root) => root.alias === alias && (technique === undefined || root.technique === technique)
  )
  if (known !== undefined) {
    known.users++
    return known
  }
  const path = canonicalPath(alias)
  const chosen = technique ?? chooseTechnique(path)
  const held = chosen.holdRoot(path)
  const key = `${chosen.name} ${alias}`
  const other = [...roots.values()].find((root) => root.path === path && !isSame(root.held, held))
  if (other !== undefined) {
    held.close()
    throw makeToolError("file_not_found", `${path} was replaced while another host had it open`, {
      suggestion: "Close that host first.",
      details: { path }
    })
  }
  const root = {
    path,
    alias,
    technique: chosen,
    held,
    users: 1,
    close: () => {
      if (--root.users > 0) return
      roots.delete(key)
      held.close()
    }
  }
  roots.set(key, root)
  return root
}

/**
 * Opens a workspace root before the host that works in it: whatever takes its place until then is not the workspace.
 * Returns what closes it again.
 */
export const holdWorkspace = (directory: string): (() => void) => openSharedRoot(directory).close

/** Real path of a root that is open under this name. */
export const openRootPath = (directory: string): string | undefined =>
  [...roots.values()].find(({ alias }) => alias === resolve(directory))?.path

/** Paths of the roots that are open. */
export const openRootPaths = (): ReadonlyArray<string> => [...roots.values()].map(({ path }) => path)

/**
 * A way to a directory that leads through the descriptor of the open root that contains it; the path itself where there
 * is none. Another process of this user can take it, too.
 */
export const boundPath = (path: string): string => {
  const root = rootOf(path)
  return root === undefined ? path : `${root.held.base}${path.slice(root.path.length)}`
}

/** Device and inode of an open root, as `stat -c %d:%i` prints them; undefined where no such root is open. */
export const rootIdentity = (path: string): string | undefined => {
  const root = rootOf(path)
  return root?.path === path ? `${root.held.stats.dev}:${root.held.stats.ino}` : undefined
}

const rootOf = (path: string): OpenRoot | undefined =>
  [...roots.values()].find((root) => path === root.path || path.startsWith(`${root.path}/`))

const isSame = (one: Held, other: Held): boolean =>
  one.stats.ino === other.stats.ino && one.stats.dev === other.stats.dev
