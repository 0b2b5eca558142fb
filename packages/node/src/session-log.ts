import { closeSync, openSync } from "node:fs"

import type { JournalEvent } from "@haft/core"

import { writeFully } from "./content.ts"

/** A log for people who follow a session: requests at INFO, replies at DEBUG. */
export interface SessionLog {
  readonly add: (event: JournalEvent) => void
  readonly close: () => void
}

/** So much waits for the end of the turn at most. */
const mostWaiting = 1024 * 1024

/**
 * What happens in one turn of the event loop is written at its end, in one go. The record is what counts, so a line
 * that can't be written here stops nothing, and a host that dies in the middle of a turn leaves it out.
 */
export const openSessionLog = (file: string): SessionLog => {
  let descriptor: number | undefined
  let waiting = ""
  let later: NodeJS.Immediate | undefined

  const write = (): void => {
    clearImmediate(later)
    later = undefined
    const text = waiting
    waiting = ""
    try {
      descriptor ??= openSync(file, "a", 0o600)
      writeFully(descriptor, Buffer.from(text))
    } catch (error) {
      if (!(error instanceof Error && "code" in error)) throw error
    }
  }

  return {
    add: (event) => {
      const line = lineOf(event)
      if (line === undefined) return
      waiting += `${String(event["at"])} ${line}\n`
      if (waiting.length > mostWaiting) write()
      else later ??= setImmediate(write)
    },
    close: () => {
      if (later !== undefined) write()
      if (descriptor !== undefined) closeSync(descriptor)
    }
  }
}

const lineOf = (event: JournalEvent): string | undefined => {
  const { request_id, tool, params, status, error, duration_sec, reply } = event as Readonly<Record<string, unknown>>
  if (event.type === "tool_call_started")
    return `INFO request ${word(request_id)} ${word(tool)} ${JSON.stringify(params)}`
  if (event.type !== "tool_call_finished") return undefined
  const outcome = error === undefined ? word(status) : `${word(status)} ${word(error)}`
  return `DEBUG response ${word(request_id)} ${word(tool)} ${outcome} ${word(duration_sec)}s ${JSON.stringify(reply)}`
}

/** A caller's own words must not begin a line of their own. */
const word = (value: unknown): string =>
  (typeof value === "string" ? value : (JSON.stringify(value) ?? "-")).replaceAll(/[\s\p{Cc}]/gu, "_")
