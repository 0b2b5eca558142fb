import { randomBytes } from "node:crypto"
import { appendFileSync, closeSync, fdatasync, mkdirSync, openSync, readdirSync, rmdirSync, unlinkSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"

import { Journal, type JournalEvent, makeToolError, type ToolError } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { hasCode, isErrno, whyNotWritten } from "../errno.ts"
import { takeLock } from "../state/lock-file.ts"
import { repairTail, sealedLine, type UnfinishedCall, unfinishedCalls, writeEnd } from "./audit-log-lines.ts"
import { JournalWriter } from "./audit-log-writer.ts"
import { keepLargeContents } from "./large-contents.ts"
import { openSessionLog } from "./session-log.ts"

export interface FileJournalOptions {
  /** The state directory; the record goes to `runs/<run>/events.jsonl` below it. */
  readonly directory: string
  /** The run's name. Made of the time, so that names sort by it, when absent. */
  readonly run?: string
}

/**
 * A journal in a file: one line an event, each with the hash of the line before. What can't be written stops
 * the call. Calls that an earlier host left without an end are closed when the next one starts.
 */
export const fileJournal = (options: FileJournalOptions): Layer.Layer<Journal, ToolError<"journal_unavailable">> =>
  Layer.effect(
    Journal,
    Effect.map(
      Effect.acquireRelease(
        recording(() => openRun(options)),
        (run) => Effect.promise(() => run.settled().then(run.close))
      ),
      makeJournal
    )
  )

interface Run {
  readonly name: string
  /** The run's own directory. */
  readonly files: string
  readonly writer: JournalWriter
  /** Told about every event once it is written. */
  readonly listeners: Set<(event: JournalEvent) => void>
  /** Waits until what was written would survive a power loss. */
  readonly flush: () => Promise<void>
  /** Waits until nothing is being flushed, whether or not it worked. */
  readonly settled: () => Promise<void>
  readonly close: () => void
}

const openRun = ({ directory, run = newRunName() }: FileJournalOptions): Run => {
  if (!/^[\w-]+$/.test(run)) throw new Error(`'${run}' can't be the name of a run`)
  const files = join(directory, "runs", run)
  const open = join(directory, "open-runs")
  mkdirSync(files, { recursive: true, mode: 0o700 })
  mkdirSync(open, { recursive: true, mode: 0o700 })
  closeAbandonedRuns(directory)
  const release = takeLock(join(open, run))
  if (release === undefined) throw new Error(`the run ${run} belongs to another host`)
  const file = join(files, "events.jsonl")
  const descriptor = openSync(file, "ax", 0o600)
  const sessionLog = openSessionLog(join(files, "session.log"))
  const listeners = new Set<(event: JournalEvent) => void>()
  const writer = new JournalWriter(descriptor, (event, replyJson) => {
    const log = (): void => sessionLog.add(event, replyJson)
    // A copy of the set, because a listener may add or remove others.
    for (const listener of [log, ...listeners]) tell(listener, event)
  })
  // Where the end can't be written the run stays marked as open, and the next host writes it.
  const end = (): void => {
    writer.close()
    if (writer.count > 0) writeEnd(file, { events: writer.count, hash: writer.prev })
  }
  return {
    name: run,
    files,
    writer,
    listeners,
    ...flushTogether(descriptor),
    close: () => {
      const isEnded = succeeds(end)
      closeSync(descriptor)
      sessionLog.close()
      if (writer.count === 0) removeRun(files)
      if (isEnded) release()
    }
  }
}

// A listener that fails must not fail the write.
const tell = (listener: (event: JournalEvent) => void, event: JournalEvent): void => {
  try {
    listener(event)
  } catch (fault) {
    process.emitWarning(fault instanceof Error ? fault : new Error("a listener of the record failed", { cause: fault }))
  }
}

// One flush at a time, away from the event loop. Whoever comes meanwhile waits for the next one, which is for them all.
const flushTogether = (descriptor: number): Pick<Run, "flush" | "settled"> => {
  const flush = promisify(fdatasync)
  const ignore = (): void => {}
  let running = Promise.resolve()
  let next: Promise<void> | undefined
  return {
    flush: () => {
      next ??= running.then(ignore, ignore).then(() => {
        next = undefined
        running = flush(descriptor)
        return running
      })
      return next
    },
    settled: async () => {
      await next?.then(ignore, ignore)
      await running.then(ignore, ignore)
    }
  }
}

const succeeds = (work: () => void): boolean => {
  try {
    work()
    return true
  } catch {
    return false
  }
}

// A host that nobody called leaves no run behind, unless something else lies in its directory.
const removeRun = (files: string): void => {
  try {
    unlinkSync(join(files, "events.jsonl"))
    rmdirSync(files)
  } catch (error) {
    if (!hasCode(error)) throw error
  }
}

const makeJournal = ({ name, files, writer, listeners, flush }: Run): typeof Journal.Service => {
  const flushed = Effect.tryPromise({ try: flush, catch: unavailable })
  let step = 0
  return {
    run: name,
    nextStep: () => ++step,
    append: (event, { durable = false, canWait } = {}) => {
      if (canWait === "awaited") return writtenWithOthers(writer, () => keepLargeContents(event, files))
      // After a failed write nothing is left waiting any more, so that what can't be written does not pile up.
      const written = recording(() => {
        const small = keepLargeContents(event, files)
        return canWait === undefined || writer.isStuck ? writer.add(small) : writer.addLater(small)
      })
      return durable ? Effect.andThen(written, flushed) : written
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    }
  }
}

const writtenWithOthers = (writer: JournalWriter, event: () => JournalEvent) =>
  Effect.callback<void, ToolError<"journal_unavailable">>((resume) => {
    const done = (failure?: unknown): void =>
      resume(failure === undefined ? Effect.void : Effect.fail(unavailable(failure)))
    try {
      writer.addLater(event(), done)
    } catch (failure) {
      done(failure)
    }
  })

/** Writes an end to every call that a host began before it died. */
const closeAbandonedRuns = (directory: string): void => {
  for (const run of readdirSync(join(directory, "open-runs"))) {
    if (!/^[\w-]+$/.test(run)) continue
    const release = takeLock(join(directory, "open-runs", run))
    if (release === undefined) continue
    const file = join(directory, "runs", run, "events.jsonl")
    try {
      let { seq, prev } = repairTail(file)
      for (const event of unfinishedCalls(file).flatMap(endOf)) {
        const { line, hash } = sealedLine({ ...event, seq: ++seq, at: new Date().toISOString(), prev })
        appendFileSync(file, line)
        prev = hash
      }
      writeEnd(file, { events: seq, hash: prev })
    } catch (error) {
      if (!isErrno(error, "ENOENT")) throw error
    } finally {
      release()
    }
  }
}

// A question that nobody can answer any more is a no, and the record says so before it ends the call.
const endOf = ({ started, isAsking }: UnfinishedCall): ReadonlyArray<JournalEvent> => {
  const call = { request_id: started["request_id"], step: started["step"], tool: started["tool"] }
  const refusal = { decision: "deny", by: "nobody", reason: "the host died before anybody answered" }
  const end = { type: "tool_call_finished", ...call, status: "error", error: "cancelled", aborted: true }
  return isAsking ? [{ type: "approval_decided", ...call, ...refusal }, end] : [end]
}

const newRunName = (): string =>
  `${new Date().toISOString().replaceAll(/[-:.Z]/g, "")}-${randomBytes(4).toString("hex")}`

const recording = <A>(work: () => A): Effect.Effect<A, ToolError<"journal_unavailable">> =>
  Effect.try({ try: work, catch: unavailable })

const unavailable = (cause: unknown): ToolError<"journal_unavailable"> =>
  makeToolError("journal_unavailable", `the audit log can't be written: ${whyNotWritten(cause)}; nothing was run`, {
    suggestion: "Free disk space, or make the state directory writable."
  })
