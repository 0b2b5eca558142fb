import { closeSync, openSync } from "node:fs"

import type { JournalEvent } from "@haft/core"

import { hasCode } from "../errno.ts"
import { writeFully } from "../workspace/content.ts"

/** A log for people who follow a session: requests at INFO, replies at DEBUG. */
export interface SessionLog {
  /** Adds an event, whose reply is JSON already. */
  readonly add: (event: JournalEvent, replyJson: string | undefined) => void
  readonly close: () => void
}

/** So much waits at most, and so long. */
const mostWaiting = 64 * 1024
const longestWaitMs = 100

/**
 * Lines wait for a moment and are written together: one write for every line took a sixth of the time of a small call.
 * They wait as bytes, because the garbage collector copies strings that live for a while. The record is what counts, so
 * a line that can't be written here stops nothing, and a host that is killed loses the last ones.
 */
export const openSessionLog = (file: string): SessionLog => {
  let descriptor: number | undefined
  let waiting: Buffer | undefined
  let size = 0
  let later: NodeJS.Timeout | undefined

  const write = (bytes: Uint8Array): void => {
    try {
      descriptor ??= openSync(file, "a", 0o600)
      writeFully(descriptor, bytes)
    } catch (error) {
      if (!hasCode(error)) throw error
    }
  }
  const writeWaiting = (): void => {
    clearTimeout(later)
    later = undefined
    if (waiting !== undefined && size > 0) write(waiting.subarray(0, size))
    size = 0
  }

  return {
    add: (event, replyJson) => {
      const text = lineOf(event, replyJson)
      if (text === undefined) return
      const line = `${String(event["at"])} ${text}\n`
      // At most three bytes a character.
      if (size + 3 * line.length > mostWaiting) writeWaiting()
      if (3 * line.length > mostWaiting) return write(Buffer.from(line))
      waiting ??= Buffer.allocUnsafeSlow(mostWaiting)
      size += waiting.write(line, size)
      later ??= setTimeout(writeWaiting, longestWaitMs).unref()
    },
    close: () => {
      writeWaiting()
      if (descriptor !== undefined) closeSync(descriptor)
    }
  }
}

const lineOf = (event: JournalEvent, replyJson: string | undefined): string | undefined => {
  const { request_id, tool, params, status, error, duration_sec } = event as Readonly<Record<string, unknown>>
  if (event.type === "tool_call_started")
    return `INFO request ${word(request_id)} ${word(tool)} ${JSON.stringify(params)}`
  if (event.type !== "tool_call_finished") return undefined
  const outcome = error === undefined ? word(status) : `${word(status)} ${word(error)}`
  return `DEBUG response ${word(request_id)} ${word(tool)} ${outcome} ${word(duration_sec)}s ${replyJson ?? "-"}`
}

/** A caller's own words must not begin a line of their own. */
const word = (value: unknown): string => {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "-")
  return /^[\w.-]*$/.test(text) ? text : text.replaceAll(/[\s\p{Cc}]/gu, "_")
}
