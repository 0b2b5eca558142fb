import { type ToolError, toolError } from "@haft/core"
import * as Effect from "effect/Effect"

import type { HunkLine, PatchSection } from "../patch.ts"

/** A patch says where it writes by itself, so it is held to plain relative paths that stay out of git's own files. */
export const patchPath = (
  path: string
): Effect.Effect<string, ToolError<"path_outside_workspace" | "invalid_params">> => {
  if (path.includes("\0")) {
    return toolError("invalid_params", "a path in the patch contains a NUL character; nothing was changed", {
      suggestion: "Leave the NUL character out: no file has one in its name."
    })
  }
  if (path.endsWith("/")) {
    return toolError("invalid_params", `the patch path ${path} names a directory; nothing was changed`, {
      suggestion: "Name the file, without a slash at the end.",
      details: { path }
    })
  }
  const parts = path.split(/[/\\]/)
  if (path.startsWith("/") || path.startsWith("\\") || /^[A-Za-z]:/.test(path)) return refusePath(path, "is absolute")
  if (parts.includes("..")) return refusePath(path, "climbs with '..'")
  if (parts.some((part) => part.normalize("NFC").toLowerCase() === ".git")) return refusePath(path, "leads into .git")
  return Effect.succeed(path)
}

export const refusePath = (path: string, how: string): Effect.Effect<never, ToolError<"path_outside_workspace">> =>
  toolError("path_outside_workspace", `the patch path ${path} ${how}; nothing was changed`, {
    suggestion: "Use paths relative to the workspace, outside .git.",
    details: { path }
  })

/** Holds a new target of a symbolic link to a relative path that stays in the workspace, outside .git. */
export const checkLink = (
  section: PatchSection
): Effect.Effect<void, ToolError<"path_outside_workspace" | "invalid_params">> => {
  if (section.isLink !== true || section.kind === "delete") return Effect.void
  if (section.kind === "add") return checkTarget(section.path, targetOf(section.lines, "+"))
  const target = targetOf(
    section.hunks.flatMap(({ lines }) => lines),
    "+"
  )
  return section.hunks.length === 0 ? Effect.void : checkTarget(section.target ?? section.path, target)
}

/** The target of a symbolic link on one side of a patch; undefined unless that is one line. */
export const targetOf = (lines: ReadonlyArray<HunkLine>, sign: "-" | "+"): string | undefined => {
  const side = lines.filter((line) => line.sign === sign || line.sign === " ")
  return side.length === 1 ? side[0]?.text : undefined
}

const checkTarget = (
  path: string,
  target: string | undefined
): Effect.Effect<void, ToolError<"path_outside_workspace" | "invalid_params">> => {
  if (target === undefined || target === "" || target.startsWith("/") || /[\\\0]|^[A-Za-z]:/.test(target)) {
    return refusePath(path, "is a symbolic link without a relative target")
  }
  const parts = path.split("/").slice(0, -1)
  for (const part of target.split("/")) {
    if (part === "..") {
      if (parts.pop() === undefined) return refusePath(path, `is a symbolic link to ${target}, which leads out`)
    } else if (part !== "." && part !== "") parts.push(part)
  }
  return Effect.asVoid(patchPath(parts.length === 0 ? "." : parts.join("/")))
}
