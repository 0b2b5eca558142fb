import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as z from "zod"

import {
  Approver,
  defineDialect,
  definePlugin,
  defineTool,
  Host,
  type JournalEvent,
  memoryJournal,
  memoryWorkspace,
  use,
  visibleLines,
  visibleText,
  Workspace
} from "../index.ts"
import { compareFiles, filesOf, eventFilter, printEvent, recordedCalls, replayCalls } from "../internal.ts"

const plain = defineDialect({
  name: "plain",
  symlinks: "inside",
  asks: (risk) => risk !== "read_only",
  success: ({ output, durationMs }) => ({ output, duration_ms: durationMs }),
  failure: ({ errorName, error }) => ({ error: errorName, message: error.message }),
  envelope: (output) => output
})

const save = defineTool({
  name: "save",
  description: "Writes a file.",
  input: z.strictObject({ path: z.string(), content: z.string() }),
  output: z.object({ before: z.string(), saved_at: z.number() }),
  risk: "safe_write",
  touches: ({ path }) => ({ writes: [path] }),
  execute: Effect.fnUntraced(function* ({ path, content }) {
    const workspace = yield* Workspace
    const before = yield* workspace.fingerprint(path)
    yield* workspace.commit([{ kind: "write", path, content: new TextEncoder().encode(content) }])
    return { before, saved_at: Date.now() }
  })
})

const approver = Layer.succeed(Approver, {
  judge: ({ facts }) =>
    Effect.succeed({ decision: facts.writes[0]?.path === "no.txt" ? "deny" : "allow", reason: "so it is" }),
  ask: () => Effect.succeed({ approved: false })
})

const withHost = <A, E>(
  files: Record<string, string>,
  use_: (context: {
    host: Host["Service"]
    workspace: Workspace["Service"]
    events: Array<JournalEvent>
  }) => Effect.Effect<A, E>,
  decides: Layer.Layer<Approver> = approver
) => {
  const events: Array<JournalEvent> = []
  const services = Layer.mergeAll(memoryWorkspace(files), memoryJournal(events), decides)
  const plugin = definePlugin({ name: "p", version: "1.0.0", tools: [save] })
  return Effect.gen(function* () {
    return yield* use_({ host: yield* Host, workspace: yield* Workspace, events })
  }).pipe(Effect.provide(Host.layer({ dialect: plain, plugins: [use(plugin)] }).pipe(Layer.provideMerge(services))))
}

const secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"

const someRun = Effect.suspend(() =>
  withHost({ "a.txt": "old" }, ({ host, events, workspace }) =>
    Effect.gen(function* () {
      yield* host.call("save", { path: "a.txt", content: "new" }, { requestId: "one" })
      yield* host.call("save", { path: "../a.txt", content: "new" })
      yield* host.call("save", { path: "no.txt", content: "new" })
      yield* host.call("save", { path: "b.txt", content: secret })
      return { events, workspace }
    })
  )
)

// As a file has them: times as text, numbered, through JSON.
const fromFile = (events: ReadonlyArray<JournalEvent>): ReadonlyArray<JournalEvent> =>
  events.map((event, place) =>
    JSON.parse(JSON.stringify({ ...event, at: new Date(place * 1000).toISOString(), seq: place + 1 }))
  )

describe("calls read back from the record", () => {
  it.effect("are whole, also when they come from a file", () =>
    Effect.gen(function* () {
      const { events } = yield* someRun
      const calls = recordedCalls(fromFile(events))
      expect(calls.map(({ step, status, error, isRedacted }) => [step, status, error, isRedacted])).toEqual([
        [1, "success", undefined, false],
        [2, "error", "path_outside_workspace", false],
        [3, "error", "approval_denied", false],
        [4, "success", undefined, true]
      ])
      expect(calls[0]).toMatchObject({
        requestId: "one",
        tool: "save",
        dialect: "plain",
        params: { path: "a.txt", content: "new" },
        startedAt: 0,
        touches: { risk: "safe_write", writes: [{ path: "a.txt", exists: true }] },
        approval: { decision: "allow", by: "policy", reason: "so it is", asks: true }
      })
    })
  )

  it("are aborted when their end is missing, or was written by the next host", () => {
    const started = { type: "tool_call_started", request_id: "r", step: 1, tool: "t", dialect: "d", at: 0, params: {} }
    const closed = { type: "tool_call_finished", step: 1, at: "2026-01-01T00:00:00Z", status: "error", aborted: true }
    expect(recordedCalls([started]).map(({ status }) => status)).toEqual(["aborted"])
    expect(recordedCalls([started, closed]).map(({ status }) => status)).toEqual(["aborted"])
    expect(recordedCalls([closed, { type: "tool_call_started" }])).toEqual([])
  })
})

describe("calls whose arguments a person changed", () => {
  const theirs = { path: "b.txt", content: "theirs" }
  const edits = Layer.succeed(Approver, {
    judge: () => Effect.succeed({ decision: "ask", reason: "so it is" }),
    ask: () => Effect.succeed({ approved: true, modifiedArgs: theirs })
  })

  it.effect("are on record with both, and made again with the person's", () =>
    Effect.gen(function* () {
      const given = { path: "a.txt", content: "new" }
      const made = withHost({}, ({ host, events }) => Effect.as(host.call("save", given), events), edits)
      const calls = recordedCalls(fromFile(yield* made))
      expect(calls).toMatchObject([{ status: "success", params: given, editedParams: theirs, isRedacted: false }])
      const again = withHost({}, ({ host, workspace }) =>
        Effect.andThen(replayCalls(calls, { hosts: [host] }), filesOf(workspace))
      )
      expect([...(yield* again).keys()]).toEqual(["b.txt"])
    })
  )
})

describe("replaying calls", () => {
  it.effect("finds no difference when nothing differs but time, and says what it can't run again", () =>
    Effect.gen(function* () {
      const { events } = yield* someRun
      const replayed = yield* withHost({ "a.txt": "old" }, ({ host }) =>
        replayCalls(recordedCalls(fromFile(events)), { hosts: [host] })
      )
      expect(replayed.map(({ outcome, whySkipped }) => [outcome, whySkipped])).toEqual([
        ["same", undefined],
        ["same", undefined],
        ["skipped", "it was not approved"],
        ["skipped", "secrets in its arguments are not on record"]
      ])
    })
  )

  it.effect("reports every place in which a reply differs", () =>
    Effect.gen(function* () {
      const { events } = yield* someRun
      const [first] = yield* withHost({}, ({ host }) =>
        replayCalls(recordedCalls(events).slice(0, 1), { hosts: [host] })
      )
      expect(first).toMatchObject({
        outcome: "different",
        differences: [{ where: "output.before", recorded: expect.stringMatching(/^3-/), replayed: "absent" }]
      })
    })
  )

  it.effect("passes over calls of another dialect and calls without an end", () =>
    Effect.gen(function* () {
      const { events } = yield* someRun
      const [call] = recordedCalls(events)
      if (call === undefined) return
      const replayed = yield* withHost({}, ({ host }) =>
        replayCalls(
          [
            { ...call, dialect: "other" },
            { ...call, status: "aborted" }
          ],
          { hosts: [host] }
        )
      )
      expect(replayed.map(({ whySkipped }) => whySkipped)).toEqual([
        "it was made in the dialect other",
        "it has no end on record"
      ])
    })
  )

  it.effect("compares replies of any shape", () =>
    Effect.gen(function* () {
      const { events } = yield* someRun
      const [call] = recordedCalls(events)
      if (call === undefined) return
      const host = {
        dialect: plain,
        call: () =>
          Effect.succeed({
            ok: true as const,
            output: {},
            wire: [1, { a: 2 }],
            text: "",
            blocks: [],
            writes: [],
            adjusted: [],
            durationMs: 1
          })
      }
      const replayed = yield* replayCalls(
        [
          { ...call, reply: [1, { a: 2 }] },
          { ...call, reply: [1, { a: 3 }, 4] },
          { ...call, reply: { 0: 1 } },
          { ...call, reply: "text" }
        ],
        { hosts: [host] }
      )
      expect(replayed.map(({ differences }) => differences.map(({ where }) => where))).toEqual([
        [],
        ["1.a", "2"],
        [""],
        [""]
      ])
    })
  )
})

describe("comparing files", () => {
  it.effect("names every file that is not as expected", () =>
    Effect.gen(function* () {
      const look = (files: Record<string, string>) =>
        Effect.provide(Effect.flatMap(Workspace, filesOf), memoryWorkspace(files))
      const expected = yield* look({ "a.txt": "same", "b/c.txt": "1", "only.txt": "" })
      const found = yield* look({ "a.txt": "same", "b/c.txt": "2", "z.txt": "" })
      expect(compareFiles(expected, found)).toEqual([
        { path: "b/c.txt", kind: "different" },
        { path: "only.txt", kind: "missing" },
        { path: "z.txt", kind: "unexpected" }
      ])
      expect(compareFiles(found, found)).toEqual([])
    })
  )

  it.effect("looks at links as links, and not at .git", () =>
    Effect.gen(function* () {
      const workspace = yield* Effect.provide(Workspace, memoryWorkspace())
      const visited: Array<string> = []
      const withLink: Workspace["Service"] = {
        ...workspace,
        walk: (_path, visit) =>
          Effect.sync(() => {
            visited.push(visit({ path: ".git", name: ".git", kind: "directory", depth: 0 }))
            visited.push(visit({ path: "link", name: "link", kind: "symlink", depth: 0 }))
          })
      }
      expect(yield* filesOf(withLink)).toEqual(new Map([["link", "symlink"]]))
      expect(visited).toEqual(["skip", "continue"])
    })
  )
})

describe("looking through the record", () => {
  it.effect("finds events by what they are about", () =>
    Effect.gen(function* () {
      const events = fromFile((yield* someRun).events)
      const count = (filter: Parameters<typeof eventFilter>[0]) => events.filter(eventFilter(filter)).length
      expect(events).toHaveLength(9)
      expect({
        all: count({}),
        tool: count({ tool: "save" }),
        other: count({ tool: "sav" }),
        request: count({ request: "one" }),
        type: count({ type: "approval_decided" }),
        failed: count({ status: "error" }),
        since: count({ since: 7000 }),
        until: count({ until: 1000 }),
        text: count({ text: "NO.TXT" })
      }).toEqual({ all: 9, tool: 9, other: 0, request: 2, type: 1, failed: 2, since: 2, until: 2, text: 2 })
      expect(eventFilter({ since: 0 })({ type: "x", at: "never" })).toBe(false)
    })
  )

  it.each<[JournalEvent, string]>([
    [
      { type: "tool_call_started", at: 0, step: 1, tool: "read", params: { path: "a\u001B[2J" } },
      String.raw`1970-01-01 00:00:00.000    #1 read called with {"path":"a\u001b[2J"}`
    ],
    [
      {
        type: "tool_call_finished",
        at: "1970-01-01T00:00:01Z",
        step: 12,
        tool: "read",
        status: "success",
        duration_sec: 0.0123
      },
      "1970-01-01 00:00:01.000   #12 read succeeded in 12 ms"
    ],
    [
      { type: "tool_call_finished", at: 0, step: 2, tool: "edit", status: "success", duration_sec: 9, waited_sec: 8.5 },
      "1970-01-01 00:00:00.000    #2 edit succeeded in 9000 ms, 8500 of them waiting for an answer"
    ],
    [
      { type: "tool_call_finished", at: 0, step: 1, tool: "read", status: "error", error: "timeout" },
      "1970-01-01 00:00:00.000    #1 read failed with timeout"
    ],
    [
      { type: "tool_call_finished", at: 0, step: 1, tool: "read", status: "error", error: "cancelled", aborted: true },
      "1970-01-01 00:00:00.000    #1 read never ended: the host died"
    ],
    [
      { type: "approval_decided", at: 0, step: 1, tool: "run", decision: "deny", by: "person", reason: "no\u202E" },
      String.raw`1970-01-01 00:00:00.000    #1 run refused by person: no\u{202e}`
    ],
    [
      { type: "approval_decided", step: 1, tool: "run", decision: "allow", by: "person", reason: "fine" },
      "-----------------------    #1 run approved by person: fine"
    ],
    [
      { type: "approval_decided", step: 1, tool: "run", decision: "deny", by: "nobody", reason: "too late" },
      "-----------------------    #1 run unanswered: too late"
    ],
    [{ type: "host_started", seq: 1, prev: "0" }, "-----------------------       host_started"],
    [{ type: "patch_applied", files: ["a"] }, '-----------------------       patch_applied {"files":["a"]}']
  ])("prints %j", (event, line) => {
    expect(printEvent(event)).toBe(line)
  })

  it("cuts what is long", () => {
    expect(printEvent({ type: "tool_call_started", tool: "t", params: "x".repeat(1000) }).endsWith("x…")).toBe(true)
  })
})

describe("visible text", () => {
  it.each([
    ["plain ä 漢字 😀", "plain ä 漢字 😀"],
    ["a\nb", String.raw`a\nb`],
    ["\uD800", String.raw`\u{d800}`],
    ["\u{E0041}", String.raw`\u{e0041}`],
    ["\uE000", String.raw`\u{e000}`],
    ["\u2028", String.raw`\u{2028}`],
    ["a\u00ADb", String.raw`a\u{ad}b`],
    ["\u2066x\u2069", String.raw`\u{2066}x\u{2069}`],
    ["\u3164\u2800", String.raw`\u{3164}\u{2800}`]
  ])("%j becomes %s", (text, visible) => {
    expect(visibleText(text)).toBe(visible)
  })

  it("keeps lines where lines are meant", () => {
    expect(visibleLines("a\n\tb\u0000")).toBe("a\n\tb\\u{0}")
  })
})
