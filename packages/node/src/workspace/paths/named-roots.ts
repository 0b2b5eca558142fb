import { mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"

import { makeToolError, type ToolError, type WorkspaceRoot } from "@haft/core"

import { isErrno } from "../../errno.ts"
import { heldAgain, type Held, type Technique } from "./handles.ts"
import { liesWithin } from "./is-inside.ts"
import { canonicalPath } from "./name-on-disk.ts"
import { type OpenRoot, openSharedRoot } from "./open-roots.ts"

/** One of several directory trees of a workspace; its name is the first segment of its paths. */
export interface NamedRoot extends WorkspaceRoot {
  /** As the host named it, perhaps through a link. */
  readonly alias: string
  readonly held: Held
}

export type NamedRoots = ReadonlyMap<string, NamedRoot>

export interface OpenNamedRoots extends OpenRoot {
  readonly named: NamedRoots
  /** A directory with a link to each root, for programs that are given paths of the workspace. */
  readonly links: string
}

/**
 * Opens several roots as one tree. The top of it is a private directory with an empty directory for each root, so that
 * it can be listed like any other; entering one of these leads to the root itself.
 */
export const openNamedRoots = (
  roots: ReadonlyArray<WorkspaceRoot>,
  { directory, technique }: { readonly directory: string; readonly technique?: Technique | undefined }
): OpenNamedRoots => {
  checkNames(roots)
  const opened: Array<OpenRoot> = []
  const close = () => {
    for (const root of opened) root.close()
  }
  try {
    const named = new Map<string, NamedRoot>()
    for (const { name, path, access } of roots) {
      const root = openSharedRoot(path, technique ?? opened[0]?.technique)
      opened.push(root)
      named.set(name, { name, access, path: root.path, alias: root.alias, held: root.held })
    }
    const [first] = opened
    if (first === undefined) throw new Error("a workspace has at least one root")
    checkApart([...named.values()])
    const [top, links] = [join(directory, "top"), join(directory, "links")]
    for (const { name, path } of named.values()) {
      mkdirSync(join(top, name), { recursive: true, mode: 0o700 })
      makeLink(links, name, path)
    }
    const held = first.technique.holdRoot(canonicalPath(top))
    return {
      path: first.path,
      alias: first.alias,
      technique: throughNames(first.technique, held, named),
      held,
      named,
      links,
      close: () => {
        held.close()
        close()
      }
    }
  } catch (error) {
    close()
    throw error
  }
}

/** Where a path of the workspace lies: a root's own path, and the path below it. */
export const rootAndRest = (
  { path: only, named }: { readonly path: string; readonly named?: NamedRoots },
  path: string
): { readonly root: string; readonly rest: string } => {
  if (named === undefined) return { root: only, rest: path }
  const [name = "", ...rest] = path.split("/")
  return { root: named.get(name)?.path ?? only, rest: rest.length === 0 ? "." : rest.join("/") }
}

/** Enters a root where its name is entered from the top. */
const throughNames = (technique: Technique, top: Held, named: NamedRoots): Technique => {
  const rootAt = (directory: string, name: string | Buffer): Held | undefined => {
    if (directory !== top.base || typeof name !== "string") return undefined
    // Another descriptor of the top would not be known as the top.
    const held = name === "." ? top : named.get(name)?.held
    return held && heldAgain(held)
  }
  return {
    ...technique,
    enter: (directory, name) => rootAt(directory, name) ?? technique.enter(directory, name),
    hold: (directory, name) => rootAt(directory, name) ?? technique.hold(directory, name)
  }
}

const makeLink = (directory: string, name: string, target: string): void => {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  try {
    symlinkSync(target, join(directory, name), "dir")
  } catch (error) {
    if (!isErrno(error, "EEXIST")) throw error
  }
}

const checkNames = (roots: ReadonlyArray<WorkspaceRoot>): void => {
  const seen = new Set<string>()
  for (const { name } of roots) {
    if (!/^[\w][\w.-]{0,63}$/.test(name)) throw wrongRoots(`'${name}' can't be the name of a root`)
    if (seen.has(name.toLowerCase())) throw wrongRoots(`two roots are called '${name}'`)
    seen.add(name.toLowerCase())
  }
}

/** A file that lies in two roots would have two paths, and perhaps two kinds of access. */
const checkApart = (roots: ReadonlyArray<NamedRoot>): void => {
  for (const one of roots) {
    const around = roots.find((other) => other !== one && liesWithin(other.path, one.path))
    if (around !== undefined) throw wrongRoots(`the root '${one.name}' lies inside the root '${around.name}'`)
  }
}

const wrongRoots = (problem: string): ToolError<"invalid_params"> =>
  makeToolError("invalid_params", `the roots of the workspace can't be used: ${problem}`, {
    suggestion:
      "Give each root a name of its own, of letters, digits, '.', '-' and '_', and a directory beside the others.",
    details: { settings: ["roots"] }
  })
