import { dirname, relative, resolve } from "node:path"

import { gitConfigProblem } from "./git-config.ts"
import type { SeenFile } from "./snapshot.ts"

/** Equal for files of one name and content: such a file was moved or copied. */
export const contentKey = ({ path, kind, hash, git }: SeenFile): string =>
  [path.slice(path.lastIndexOf("/") + 1), kind, hash, git ?? ""].join("\0")

/** Why a control file that a command made or changed can't stay; undefined for what git itself writes. */
export const problemOf = (root: string, file: SeenFile, before: SeenFile | undefined): string | undefined => {
  if (file.kind !== "file") return `${file.readBy} would follow it, and it is not a regular file`
  const text = file.content?.toString("latin1")
  if (file.git === "hook") return file.path.endsWith(".sample") ? undefined : "git would run it"
  if (file.git === "config") {
    return text === undefined
      ? "it is too large to be judged"
      : gitConfigProblem(text, before?.content?.toString("latin1"))
  }
  if (file.git === "commondir") {
    return text?.trim() === "../.." && /(?:^|\/)worktrees\/[^/]+\/commondir$/.test(file.path)
      ? undefined
      : "git would take its configuration from where it leads"
  }
  if (file.git === "gitfile") {
    const [, target] = /^gitdir: ([^\n]+)\n?$/.exec(text ?? "") ?? []
    const leadsTo = target === undefined ? "" : relative(root, resolve(root, dirname(file.path), target))
    return /^(?!\.\.\/)(?:.+\/)?\.git\/(?:modules|worktrees)\/./.test(leadsTo)
      ? undefined
      : "git would take its configuration from where it leads"
  }
  return `${file.readBy} runs or trusts it`
}
