import { readFileSync, realpathSync } from "node:fs"

import { systemProgram } from "../../process/system-programs.ts"
import { rootIdentity } from "../../workspace/paths/open-roots.ts"
import type { Mount } from "../paths.ts"

/**
 * Mount table that starter.sh has to find inside a sandbox. What makes a sandbox binds by path and follows
 * links, and what lies in the workspace can be replaced by one after it was looked at.
 */
export const mountCheckWords = (
  root: string,
  mounts: ReadonlyArray<Mount>,
  /** Device and inode that the workspace has in there; its own when absent. */
  expected?: string
): ReadonlyArray<string> => {
  const places = mounts
    .filter((mount) => isOfItself(mount) && mount.path.startsWith(`${root}/`))
    .map(({ path }) => path)
  // Other file systems that the host has in the workspace come along.
  const others = places.length === 0 ? [] : hostMounts().filter(({ point }) => point.startsWith(`${escaped(root)}/`))
  const wanted = places.filter((path) => others.every(({ point }) => point !== escaped(path)))
  const stat = statProgram()
  const identity = expected ?? rootIdentity(root)
  return [
    root,
    escaped(root),
    identity ?? "",
    stat ?? "",
    String(wanted.length),
    others.map(({ thing }) => `${thing}\n`).join("")
  ]
}

// Where it really lies: of links to system programs only those of the file system's root are in a sandbox.
const statProgram = (): string | undefined => {
  const found = systemProgram("stat")
  return found === undefined ? undefined : realpathSync(found)
}

const isOfItself = (mount: Mount): boolean =>
  (mount.kind === "readable" || mount.kind === "writable") && mount.from === undefined

/** Mounts of the host: the device with the path on it, and the mount point. */
const hostMounts = (): ReadonlyArray<{ readonly thing: string; readonly point: string }> =>
  readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .map((line) => line.split(" "))
    .map(([, , device = "", path = "", point = ""]) => ({ thing: `${device} ${path}`, point }))

/** A path as the table of mounts writes it. */
const escaped = (path: string): string =>
  path.replaceAll(/[ \t\n\\]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`)
