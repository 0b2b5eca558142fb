import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { afterAll, describe, expect, it } from "@effect/vitest"
import { isToolError, Journal } from "@haft/core"
import * as Effect from "effect/Effect"

import { readJournal, verifyJournal } from "./audit-log-lines.ts"
import { fileJournal } from "./audit-log.ts"
import { restoreLargeContents } from "./large-contents.ts"

const base = mkdtempSync(join(tmpdir(), "haft-journal-"))
afterAll(() => rmSync(base, { recursive: true, force: true }))
let count = 0
const newDirectory = () => join(base, `s${++count}`)

const withJournal = <A, E>(
  directory: string,
  use: (journal: typeof Journal.Service) => Effect.Effect<A, E>,
  run?: string
): Promise<A> =>
  Effect.runPromise(
    Journal.use(use).pipe(Effect.provide(fileJournal({ directory, ...(run !== undefined && { run }) })))
  )
const eventsOf = (directory: string, run: string) => join(directory, "runs", run, "events.jsonl")

const started = (step: number) => ({
  type: "tool_call_started",
  request_id: `r-${step}`,
  step,
  tool: "read_file",
  at: 0,
  params: { path: "a\nb" }
})
const finished = (step: number) => ({
  type: "tool_call_finished",
  request_id: `r-${step}`,
  step,
  tool: "read_file",
  at: 1000,
  status: "success",
  duration_sec: 1,
  reply: { ok: true }
})

describe("the record", () => {
  it("of a host that did nothing is not kept, unless something lies beside it", async () => {
    const directory = newDirectory()
    await withJournal(directory, () => Effect.void)
    expect(readdirSync(join(directory, "runs"))).toEqual([])
    await withJournal(
      directory,
      () => Effect.sync(() => writeFileSync(join(directory, "runs", "a-run", "artifact"), "")),
      "a-run"
    )
    expect(readdirSync(join(directory, "runs", "a-run"))).toEqual(["artifact"])
  })

  it("has one line an event, numbered, timed and chained", async () => {
    const directory = newDirectory()
    const heard: Array<unknown> = []
    await withJournal(
      directory,
      Effect.fnUntraced(function* (journal) {
        const stop = journal.subscribe((event) => heard.push(event.type))
        yield* journal.append(started(journal.nextStep()))
        yield* journal.append(finished(1), { durable: true })
        stop()
        yield* journal.append({ type: "patch_applied" })
        expect(journal.nextStep()).toBe(2)
      }),
      "run1"
    )
    const file = eventsOf(directory, "run1")
    const [first, second, third] = readJournal(file)
    expect(first).toEqual({
      ...started(1),
      seq: 1,
      at: "1970-01-01T00:00:00.000Z",
      prev: "0".repeat(64),
      hash: second?.prev
    })
    expect(second).toMatchObject({ seq: 2, at: "1970-01-01T00:00:01.000Z" })
    expect(third?.at).toMatch(/^20\d\d-/)
    expect(verifyJournal(file)).toEqual({ intact: true, events: 3, tornTail: false, ended: true })
    expect(heard).toEqual(["tool_call_started", "tool_call_finished"])
    expect(readdirSync(join(directory, "open-runs"))).toEqual([])
  })

  it("notices lines that were changed, removed, added or swapped", async () => {
    const directory = newDirectory()
    await withJournal(
      directory,
      (journal) => Effect.forEach([1, 2, 3], (step) => journal.append(started(step))),
      "run1"
    )
    const file = eventsOf(directory, "run1")
    const lines = readFileSync(file, "utf8").split("\n")
    const verify = (edited: ReadonlyArray<string | undefined>) => {
      writeFileSync(file, edited.join("\n"))
      return verifyJournal(file)
    }
    const broken = (line: number) => ({ intact: false, line, problem: "does not follow from the line before" })
    for (const changed of [1, 2]) {
      const edited = lines.map((line, place) => (place === changed ? line.replace("a\\nb", "c") : line))
      expect(verify(edited)).toEqual({ intact: false, line: changed + 1, problem: "is not what was written" })
    }
    expect(verify([lines[0], lines[2], ""])).toEqual(broken(2))
    expect(verify([lines[1], lines[0], lines[2], ""])).toEqual(broken(1))
    expect(verify([lines[0], "prose", lines[2], ""])).toEqual({ intact: false, line: 2, problem: "is not JSON" })
    expect(verify([...lines.slice(0, 3), "torn"])).toEqual({ intact: true, events: 3, tornTail: true, ended: true })
    expect(readJournal(file)).toHaveLength(3)
  })

  it("notices lines that are missing at the end, and an end that is", async () => {
    const directory = newDirectory()
    const file = eventsOf(directory, "run1")
    const running = await withJournal(
      directory,
      (journal) =>
        Effect.forEach([1, 2, 3], (step) => journal.append(started(step))).pipe(Effect.map(() => verifyJournal(file))),
      "run1"
    )
    expect(running).toEqual({ intact: true, events: 3, tornTail: false, ended: false })
    const lines = readFileSync(file, "utf8").split("\n")
    const verify = (...kept: ReadonlyArray<string | undefined>) => {
      writeFileSync(file, kept.map((line) => `${line}\n`).join(""))
      return verifyJournal(file)
    }
    const broken = (line: number, problem: string) => ({ intact: false, line, problem })
    expect(verify(lines[0], lines[1])).toEqual(broken(3, "is missing"))
    expect(verify(lines[0])).toEqual(broken(2, "is missing, and 1 more after it"))
    expect(verify()).toEqual(broken(1, "is missing, and 2 more after it"))
    const end = join(directory, "runs", "run1", "end.json")
    writeFileSync(end, JSON.stringify({ events: 2, hash: "0".repeat(64) }))
    expect(verify(...lines.slice(0, 3))).toEqual(broken(3, "is not how the run ended"))
    expect(verify(...lines.slice(0, 2))).toEqual(broken(2, "is not how the run ended"))
    rmSync(end)
    expect(verify(...lines.slice(0, 2))).toMatchObject(broken(3, expect.stringContaining("the end of the run")))
  })

  it("closes calls that a host left open when it died, and cuts a torn line", async () => {
    const directory = newDirectory()
    await withJournal(
      directory,
      Effect.fnUntraced(function* (journal) {
        for (const event of [started(1), finished(1), started(2), started(3)]) yield* journal.append(event)
      }),
      "dead"
    )
    const file = eventsOf(directory, "dead")
    appendFileSync(file, '{"type":"half')
    writeFileSync(join(directory, "open-runs", "dead"), "999999999 1 dead\n")
    await withJournal(directory, () => Effect.void, "next")
    expect(readJournal(file).slice(-2)).toEqual([
      expect.objectContaining({
        request_id: "r-2",
        step: 2,
        status: "error",
        error: "cancelled",
        aborted: true,
        seq: 5
      }),
      expect.objectContaining({
        request_id: "r-3",
        step: 3,
        status: "error",
        error: "cancelled",
        aborted: true,
        seq: 6
      })
    ])
    expect(verifyJournal(file)).toEqual({ intact: true, events: 6, tornTail: false, ended: true })
    await withJournal(directory, () => Effect.void)
    expect(readJournal(file)).toHaveLength(6)
  })

  it("leaves the run of a living host alone", async () => {
    const directory = newDirectory()
    await withJournal(
      directory,
      Effect.fnUntraced(function* (journal) {
        yield* journal.append(started(1))
        yield* Effect.promise(() => withJournal(directory, () => Effect.void, "other"))
        yield* journal.append(finished(1))
      }),
      "alive"
    )
    expect(verifyJournal(eventsOf(directory, "alive"))).toEqual({
      intact: true,
      events: 2,
      tornTail: false,
      ended: true
    })
  })

  it("stops a call whose record can't be written", async () => {
    const directory = newDirectory()
    const error = await withJournal(
      directory,
      Effect.fnUntraced(function* (journal) {
        rmSync(join(directory, "runs"), { recursive: true })
        return yield* Effect.flip(journal.append(started(1)))
      })
    )
    expect(error).toMatchObject({
      code: "journal_unavailable",
      message: "the audit log can't be written: the file was removed; nothing was run"
    })
    writeFileSync(join(base, "file"), "")
    const unopened = await Effect.runPromise(
      Effect.flip(Journal.use(() => Effect.void).pipe(Effect.provide(fileJournal({ directory: join(base, "file") }))))
    )
    expect(isToolError(unopened) && unopened.code).toBe("journal_unavailable")
  })

  it("refuses a run that is there already, and names that are paths", async () => {
    const directory = newDirectory()
    await withJournal(directory, (journal) => journal.append(started(1)), "once")
    await expect(withJournal(directory, () => Effect.void, "once")).rejects.toMatchObject({
      code: "journal_unavailable"
    })
    await expect(withJournal(directory, () => Effect.void, "../x")).rejects.toMatchObject({
      code: "journal_unavailable"
    })
  })

  it("writes the log of the session while the host lives, and loses no long line", async () => {
    const directory = newDirectory()
    const log = join(directory, "runs", "run1", "session.log")
    const long = { ...finished(1), reply: { parts: Array.from({ length: 15 }, () => "x".repeat(60_000)) } }
    await withJournal(
      directory,
      Effect.fnUntraced(function* (journal) {
        yield* journal.append(started(1))
        yield* Effect.promise(async () => {
          await expect.poll(() => existsSync(log) && readFileSync(log, "utf8")).toMatch(/^.*\n$/)
        })
        yield* journal.append(long)
        yield* journal.append(started(2))
      }),
      "run1"
    )
    const lines = readFileSync(log, "utf8").split("\n")
    expect(lines.map((line) => line.length > 900_000)).toEqual([false, true, false, false])
  })

  it("puts the end of a call on record though the file was removed, and begins no other", async () => {
    const directory = newDirectory()
    const error = await withJournal(
      directory,
      Effect.fnUntraced(function* (journal) {
        yield* journal.append(started(1))
        rmSync(join(directory, "runs"), { recursive: true })
        yield* journal.append(finished(1))
        return yield* Effect.flip(journal.append(started(2)))
      })
    )
    expect(error.code).toBe("journal_unavailable")
  })

  it("writes what can wait together with what can't, or when the turn ends, in the order it came", async () => {
    const directory = newDirectory()
    const heard: Array<unknown> = []
    await withJournal(
      directory,
      Effect.fnUntraced(function* (journal) {
        const types = () => readJournal(eventsOf(directory, "run1")).map(({ type }) => type)
        journal.subscribe(({ step }) => heard.push(step))
        yield* journal.append(started(1), { canWait: "unheeded" })
        expect([types(), heard]).toEqual([[], []])
        yield* journal.append({ type: "patch_applied", step: 2 })
        expect([types(), heard]).toEqual([
          ["tool_call_started", "patch_applied"],
          [1, 2]
        ])
        yield* journal.append(started(3), { canWait: "unheeded" })
        yield* journal.append(finished(3), { canWait: "awaited" })
        expect(types()).toHaveLength(4)
        yield* journal.append(started(4), { canWait: "unheeded" })
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
        expect(types()).toHaveLength(5)
        yield* journal.append(started(5), { canWait: "unheeded" })
      }),
      "run1"
    )
    expect(heard).toEqual([1, 2, 3, 3, 4, 5])
    expect(verifyJournal(eventsOf(directory, "run1"))).toMatchObject({ intact: true, events: 6, ended: true })
  })

  it("writes a single event at once, and batches events when the last turn had several", async () => {
    const directory = newDirectory()
    const file = eventsOf(directory, "run1")
    const seen = await withJournal(
      directory,
      Effect.fnUntraced(function* (journal) {
        const lines = () => readJournal(file).length
        const nextTurn = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
        const end = (step: number) => Effect.map(journal.append(finished(step), { canWait: "awaited" }), lines)
        const several = Effect.forEach([1, 2, 3], end, { concurrency: "unbounded" })
        const alone = Effect.suspend(() => {
          const fiber = Effect.runFork(end(4))
          return Effect.as(nextTurn, fiber.pollUnsafe() === undefined ? "later" : "at once")
        })
        return [yield* alone, yield* several, yield* several, yield* nextTurn, yield* alone, yield* alone]
      }),
      "run1"
    )
    expect(seen).toEqual(["at once", [2, 4, 4], [7, 7, 7], undefined, "later", "at once"])
    expect(verifyJournal(file)).toMatchObject({ intact: true, events: 9, ended: true })
  })

  it("fails an awaited event when the file can't be written, and refuses further deferred ones", async () => {
    const directory = newDirectory()
    const failures = await withJournal(
      directory,
      Effect.fnUntraced(function* (journal) {
        rmSync(join(directory, "runs"), { recursive: true })
        yield* journal.append(started(1), { canWait: "unheeded" })
        return [
          yield* Effect.flip(journal.append(finished(1), { canWait: "awaited" })),
          yield* Effect.flip(journal.append(started(2), { canWait: "unheeded" }))
        ]
      })
    )
    expect(failures.map(({ code }) => code)).toEqual(["journal_unavailable", "journal_unavailable"])
  })

  it("lets nothing more wait while something is stuck, however many come", async () => {
    const directory = newDirectory()
    const heard: Array<unknown> = []
    const began = await withJournal(
      directory,
      Effect.fnUntraced(function* (journal) {
        journal.subscribe(({ step }) => heard.push(step))
        rmSync(join(directory, "runs"), { recursive: true })
        const begin = (step: number) =>
          Effect.match(journal.append(started(step), { canWait: "unheeded" }), {
            onFailure: () => false,
            onSuccess: () => true
          })
        const end = (step: number) => Effect.ignore(journal.append(finished(step), { canWait: "awaited" }))
        const round = Effect.tap(Effect.forEach([1, 2, 3, 4], begin), (began) =>
          Effect.forEach([1, 2, 3, 4], (step, at) => (began[at] === true ? end(step) : Effect.void), {
            concurrency: "unbounded"
          })
        )
        const began = [yield* round, yield* round, yield* round]
        // A refused line is no part of what is written later: the end of a call goes into a file that was removed, too.
        yield* journal.append(finished(5))
        return began
      })
    )
    expect(heard).toEqual([5])
    expect(began).toEqual([Array(4).fill(true), Array(4).fill(false), Array(4).fill(false)])
  })

  it("refuses an event that can't be serialized, and no other of the same batch", async () => {
    const directory = newDirectory()
    const wordless = { ...started(2), params: 1n }
    const failures = await withJournal(
      directory,
      Effect.fnUntraced(function* (journal) {
        yield* journal.append(started(1), { canWait: "unheeded" })
        const failures = [
          yield* Effect.flip(journal.append(wordless, { canWait: "unheeded" })),
          yield* Effect.flip(journal.append({ ...finished(2), reply: 1n }, { canWait: "awaited" }))
        ]
        yield* journal.append(finished(1), { canWait: "awaited" })
        return failures
      }),
      "run1"
    )
    expect(failures.map(({ code }) => code)).toEqual(["journal_unavailable", "journal_unavailable"])
    expect(verifyJournal(eventsOf(directory, "run1"))).toMatchObject({ intact: true, events: 2 })
  })

  it("puts the end of a call on record behind what could not be written", async () => {
    const directory = newDirectory()
    const heard: Array<string> = []
    await withJournal(
      directory,
      Effect.fnUntraced(function* (journal) {
        journal.subscribe(({ type, step }) => heard.push(`${type} ${String(step)}`))
        yield* journal.append(started(1))
        rmSync(join(directory, "runs"), { recursive: true })
        yield* journal.append(started(2), { canWait: "unheeded" })
        yield* journal.append(finished(1))
      })
    )
    expect(heard).toEqual(["tool_call_started 1", "tool_call_finished 1"])
  })

  it("tells listeners in the order of the record, also those that put something on record themselves", async () => {
    const directory = newDirectory()
    const heard: Array<unknown> = []
    await withJournal(
      directory,
      Effect.fnUntraced(function* (journal) {
        journal.subscribe(({ type }) => {
          if (type === "tool_call_started") Effect.runSync(journal.append({ type: "note_taken" }))
        })
        const stop = journal.subscribe(({ seq }) => {
          heard.push(seq)
          if (seq === 3) stop()
          journal.subscribe((event) => heard.push(event["seq"]))
        })
        yield* journal.append(started(1), { canWait: "unheeded" })
        yield* journal.append(finished(1), { canWait: "awaited" })
      }),
      "run1"
    )
    expect(heard).toEqual([1, 2, 2, 3, 3, 3])
    expect(verifyJournal(eventsOf(directory, "run1"))).toMatchObject({ intact: true, events: 3 })
  })

  it("flushes pending events when it is closed, and refuses later ones", async () => {
    const directory = newDirectory()
    const journal = await withJournal(
      directory,
      (journal) => Effect.as(journal.append(started(1), { canWait: "unheeded" }), journal),
      "run1"
    )
    // Its number may be that of the descriptor that was closed.
    const other = join(directory, "other")
    const descriptor = openSync(other, "w")
    for (const options of [{}, { durable: true }, { canWait: "awaited" }, { canWait: "unheeded" }] as const) {
      const error = await Effect.runPromise(Effect.flip(journal.append(finished(1), options)))
      expect(error.message).toContain("the host was closed")
    }
    await new Promise((resolve) => setImmediate(resolve))
    closeSync(descriptor)
    expect(readFileSync(other, "utf8")).toBe("")
    expect(verifyJournal(eventsOf(directory, "run1"))).toMatchObject({ intact: true, events: 1, ended: true })
  })

  it("is not disturbed by a listener that throws", async () => {
    const directory = newDirectory()
    const warnings: Array<string> = []
    const hear = (warning: Error) => warnings.push(warning.message)
    process.on("warning", hear)
    await withJournal(
      directory,
      Effect.fnUntraced(function* (journal) {
        journal.subscribe(() => {
          throw new Error("a bug in a listener")
        })
        journal.subscribe(({ type }) => {
          if (type === "tool_call_finished") throw Object.create(null)
        })
        yield* journal.append(started(1))
        yield* journal.append(finished(1), { canWait: "awaited" })
      }),
      "run1"
    )
    await expect
      .poll(() => warnings)
      .toEqual(["a bug in a listener", "a bug in a listener", "a listener of the record failed"])
    process.off("warning", hear)
    expect(readJournal(eventsOf(directory, "run1"))).toHaveLength(2)
  })

  it("keeps a log of the session for people beside it", async () => {
    const directory = newDirectory()
    await withJournal(
      directory,
      (journal) => Effect.forEach([started(1), finished(1), { type: "other" }], (event) => journal.append(event)),
      "run1"
    )
    expect(readFileSync(join(directory, "runs", "run1", "session.log"), "utf8").split("\n")).toEqual([
      '1970-01-01T00:00:00.000Z INFO request r-1 read_file {"path":"a\\nb"}',
      '1970-01-01T00:00:01.000Z DEBUG response r-1 read_file success 1s {"ok":true}',
      ""
    ])
  })

  it("logs arguments and replies as they are, whatever names and texts are in them", async () => {
    const directory = newDirectory()
    const params = { params: '"params":1', reply: { reply: 2 } }
    const begin = { ...started(1), request_id: 'x","params":3,"reply":4', params }
    const end = { ...finished(1), touches: { reads: ['"reply":5'] }, reply: { params, reply: '"reply":6' } }
    await withJournal(directory, (journal) => Effect.forEach([begin, end], (event) => journal.append(event)), "run1")
    expect(readFileSync(join(directory, "runs", "run1", "session.log"), "utf8").split("\n")).toEqual([
      `1970-01-01T00:00:00.000Z INFO request ${begin.request_id} read_file ${JSON.stringify(params)}`,
      `1970-01-01T00:00:01.000Z DEBUG response r-1 read_file success 1s ${JSON.stringify(end.reply)}`,
      ""
    ])
  })
})

describe("large contents of an event", () => {
  it("are kept once by their hash as an artifact, and the line stays short", async () => {
    const directory = newDirectory()
    const content = `${"0123456789".repeat(900_000)}\u2028ü`
    const reply = { result: { content, more: Array.from({ length: 40 }, () => "x".repeat(60_000)) } }
    const start = { ...started(1), params: { path: "a", content, edits: [{ replace: content }] } }
    await withJournal(
      directory,
      (journal) =>
        Effect.andThen(journal.append(start), journal.append({ ...finished(1), reply }, { canWait: "awaited" })),
      "large"
    )
    const file = eventsOf(directory, "large")
    for (const line of readFileSync(file, "utf8").split("\n")) expect(line.length).toBeLessThan(2_000)
    expect(verifyJournal(file)).toMatchObject({ intact: true, events: 2 })
    expect(readdirSync(join(directory, "runs", "large", "contents"))).toHaveLength(2)
    const events = readJournal(file)
    expect(events[0]).toMatchObject({
      params: { path: "a", content: { artifact: expect.stringMatching(/^contents\/[0-9a-f]{64}$/), kept_as: "text" } }
    })
    const restored = events.map((event) => restoreLargeContents(event, join(directory, "runs", "large")))
    expect(restored).toMatchObject([{ params: start.params }, { reply }])
  })

  it("cut long lists of touches and control files short, whole in an artifact", async () => {
    const directory = newDirectory()
    const writes = Array.from({ length: 20_000 }, (_, at) => ({ path: `src/directory/file-${at}.ts`, exists: true }))
    const end = { ...finished(1), touches: { risk: "safe_write", writes } }
    const files = writes.map(({ path }) => ({ path, reason: "git would run it" }))
    const changed = { type: "control_files_changed", request_id: "1", step: 1, tool: "run_command", files }
    await withJournal(directory, (journal) => Effect.andThen(journal.append(end), journal.append(changed)), "long")
    const file = eventsOf(directory, "long")
    for (const line of readFileSync(file, "utf8").split("\n")) expect(line.length).toBeLessThan(10_000)
    const events = readJournal(file)
    expect(events[0]).toMatchObject({
      touches: { risk: "safe_write", writes: writes.slice(0, 100) },
      touches_whole: { artifact: expect.stringMatching(/^contents\//), kept_as: "json" }
    })
    const restored = events.map((event) => restoreLargeContents(event, join(directory, "runs", "long")))
    expect(restored).toMatchObject([{ touches: end.touches }, { files }])
    expect(restored[0]).not.toHaveProperty("touches_whole")
  })

  it("stay a reference where the artifact was changed", async () => {
    const directory = newDirectory()
    await withJournal(directory, (journal) => journal.append({ ...started(1), params: "x".repeat(70_000) }), "changed")
    const run = join(directory, "runs", "changed")
    const [name] = readdirSync(join(run, "contents"))
    writeFileSync(join(run, "contents", name ?? ""), "other")
    const [event] = readJournal(eventsOf(directory, "changed"))
    expect(restoreLargeContents(event!, run)["params"]).toMatchObject({ artifact: `contents/${name}`, bytes: 70_000 })
  })
})
