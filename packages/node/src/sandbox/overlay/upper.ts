import { isUtf8 } from "node:buffer"

import type { LeftOutPath } from "@haft/core"

/** One entry of an overlay's upper directory. */
export interface UpperEntry {
  readonly kind: "file" | "directory" | "symlink" | "whiteout"
  /** Relative to the workspace. */
  readonly path: string
  /** Permission bits. */
  readonly mode: number
  /** Number of names that a file has. */
  readonly links: number
  /** A directory that hides what the workspace has below it. */
  readonly isOpaque: boolean
  /** Its extended attributes are others than those of the workspace's entry. */
  readonly hasNewAttributes: boolean
}

/** Entries of an overlay's upper directory, each directory before its content. */
export interface Upper {
  readonly entries: ReadonlyArray<UpperEntry>
  readonly leftOut: ReadonlyArray<LeftOutPath>
  /** Files of which the workspace has other names. Those keep the old content. */
  readonly linked: ReadonlyArray<string>
}

/** Reads an answer of overlay-scan.pl. */
export const parseListing = (listing: Buffer): Upper => {
  const entries: Array<UpperEntry> = []
  const leftOut: Array<LeftOutPath> = []
  const linked: Array<string> = []
  for (let from = 0; from < listing.length;) {
    const end = listing.indexOf(0, from)
    const record = listing.subarray(from, end)
    from = end + 1
    const words: Array<string> = []
    let at = 0
    for (let count = 0; count < 5; count++) {
      const space = record.indexOf(" ", at)
      words.push(record.toString("latin1", at, space))
      at = space + 1
    }
    const [kind = "", mode = "0", links = "1", opaque, remarks = ""] = words
    const hasNewAttributes = remarks.includes("attributes")
    const bytes = record.subarray(at)
    const path = isUtf8(bytes) ? bytes.toString("utf8") : undefined
    const leaveOut = (reason: string): void => void leftOut.push({ path: path ?? escaped(bytes), reason })
    if (path === "") continue
    if (path === undefined) {
      // Entries of a directory of such a name have the same reason.
      leaveOut("its name is not UTF-8")
    } else if (kind === "special") leaveOut("it is a pipe, a socket or a device")
    else if (kind === "unreadable") leaveOut("it could not be read")
    else {
      if (kind === "directory" && hasNewAttributes) leaveOut("its extended attributes, not the directory")
      if (kind === "file" && (Number.parseInt(mode, 8) & 0o6000) !== 0) {
        leaveOut("its set-user-ID and set-group-ID bits, not the file")
      }
      if (remarks.includes("linked")) linked.push(path)
      entries.push({
        kind: kind as UpperEntry["kind"],
        path,
        mode: Number.parseInt(mode, 8),
        links: Number(links),
        isOpaque: opaque === "opaque",
        hasNewAttributes
      })
    }
  }
  return { entries, leftOut, linked }
}

const escaped = (name: Buffer): string =>
  name.toString("latin1").replaceAll(/[^\x20-\x7e]/g, (character) => `\\x${character.charCodeAt(0).toString(16)}`)
