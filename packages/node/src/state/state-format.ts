import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { makeToolError } from "@haft/core"

import { isErrno } from "../errno.ts"

/** The format of state directories that this version reads and writes. It grows when an older version can't read them. */
const stateFormat = 1

/** The file in a state directory that says its format and which workspace it belongs to. */
const formatFile = "format.json"

/** Format version and workspace that a state directory is marked with. */
export interface StateMark {
  readonly format: number
  /** The workspace's directory; absent in a directory that an earlier version made. */
  readonly root?: string
}

/**
 * Checks that this version can use a state directory, and marks a new one. A directory without a mark has the first
 * format, so it only gets its mark. A directory of a newer format is refused: its files could be misread or damaged.
 */
export const checkStateFormat = (directory: string, root: string): void => {
  const mark = readStateMark(directory)
  if (mark === undefined) return writeMark(directory, { format: stateFormat, root })
  if (mark.format > stateFormat) {
    throw makeToolError(
      "invalid_params",
      `the state directory ${directory} has format ${mark.format}, and this version of haft reads format ${stateFormat}`,
      {
        suggestion: "Use the newer version of haft that wrote it, or set `state` to another directory.",
        details: { settings: ["state"], format: mark.format, supported: stateFormat }
      }
    )
  }
}

/** The mark of a state directory; undefined where it has none. */
export const readStateMark = (directory: string): StateMark | undefined => {
  const path = join(directory, formatFile)
  let text: string
  try {
    text = readFileSync(path, "utf8")
  } catch (cause) {
    if (isErrno(cause, "ENOENT")) return undefined
    throw cause
  }
  const mark = parsed(text)
  if (mark !== undefined) return mark
  throw makeToolError("invalid_params", `${path} has no format number`, {
    suggestion: `Write {"format":${stateFormat}} into it if a version of haft with that format made the directory.`,
    details: { settings: ["state"] }
  })
}

const parsed = (text: string): StateMark | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== "object" || value === null || !("format" in value)) return undefined
    const { format, root } = value as { readonly format: unknown; readonly root?: unknown }
    if (typeof format !== "number" || !Number.isInteger(format) || format < 1) return undefined
    return { format, ...(typeof root === "string" && { root }) }
  } catch {
    return undefined
  }
}

// Two hosts may open a new directory at once: the first writes the mark, and it says the same as the second's.
const writeMark = (directory: string, mark: StateMark): void => {
  try {
    writeFileSync(join(directory, formatFile), `${JSON.stringify(mark)}\n`, { flag: "wx", mode: 0o600 })
  } catch (cause) {
    if (!isErrno(cause, "EEXIST")) throw cause
  }
}
