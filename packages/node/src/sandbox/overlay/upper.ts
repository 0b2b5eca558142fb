import { isUtf8 } from "node:buffer"

import { type LeftOutPath, makeToolError, type ToolError } from "@haft/core"
import * as Effect from "effect/Effect"

import { overlayScan } from "../../embedded-scripts.ts"
import { requiredProgram } from "../../process/system-programs.ts"

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
}

/** Entries of an overlay's upper directory, each directory before its content. */
export interface Upper {
  readonly entries: ReadonlyArray<UpperEntry>
  readonly leftOut: ReadonlyArray<LeftOutPath>
}

/** More is not listed: a command that makes so many files is refused. */
const mostBytes = 512 * 1024 * 1024

/** Lists an upper directory. `strip` removes the overlay's own extended attributes from files on the way. */
export const readUpper = (
  upper: string,
  attributes: "strip" | "keep"
): Effect.Effect<Upper, ToolError<"sandbox_error">> => Effect.map(list(upper, attributes), parseListing)

const list = (upper: string, attributes: "strip" | "keep"): Effect.Effect<Buffer, ToolError<"sandbox_error">> =>
  Effect.callback((resume) => {
    const args = ["-e", overlayScan, "--", process.arch, attributes, upper]
    const options = { encoding: "buffer", maxBuffer: mostBytes, env: {} } as const
    const { execFile } = process.getBuiltinModule("node:child_process")
    const child = execFile(requiredProgram("perl"), args, options, (error, stdout) =>
      resume(error === null ? Effect.succeed(stdout) : Effect.fail(notRead(error)))
    )
    return Effect.sync(() => child.kill("SIGKILL"))
  })

const notRead = (cause: Error): ToolError<"sandbox_error"> =>
  makeToolError("sandbox_error", `what the command changed could not be read: ${cause.message}; nothing was changed`)

/** See overlay-scan.pl. */
const parseListing = (listing: Buffer): Upper => {
  const entries: Array<UpperEntry> = []
  const leftOut: Array<LeftOutPath> = []
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
    const [kind = "", mode = "0", links = "1", opaque, attributes] = words
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
      if (kind === "directory" && attributes === "attributes") leaveOut("its extended attributes, not the directory")
      entries.push({
        kind: kind as UpperEntry["kind"],
        path,
        mode: Number.parseInt(mode, 8),
        links: Number(links),
        isOpaque: opaque === "opaque"
      })
    }
  }
  return { entries, leftOut }
}

const escaped = (name: Buffer): string =>
  name.toString("latin1").replaceAll(/[^\x20-\x7e]/g, (character) => `\\x${character.charCodeAt(0).toString(16)}`)
