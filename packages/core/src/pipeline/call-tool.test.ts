import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { TestClock } from "effect/testing"
import * as z from "zod"

import {
  type Answer,
  type ApprovalQuestion,
  Approver,
  CurrentCall,
  defineDialect,
  definePlugin,
  defineTool,
  denyAll,
  Host,
  Journal,
  type JournalEvent,
  memoryJournal,
  memoryWorkspace,
  reportProgress,
  toolError,
  use,
  Workspace
} from "../index.ts"

const plain = defineDialect({
  name: "plain",
  symlinks: "inside",
  asks: (risk) => risk !== "read_only",
  success: ({ output, writes }) => ({ output, writes }),
  failure: ({ errorName, error }) => ({ error: errorName, message: error.message }),
  envelope: (output) => ({ type: "object", properties: { output } })
})

const shout = defineTool({
  name: "shout",
  description: "Says a word loudly.",
  input: z.strictObject({ word: z.string(), times: z.number().int().min(1).default(1) }),
  output: z.object({ said: z.string() }),
  risk: "read_only",
  execute: ({ word, times }) => Effect.succeed({ said: word.toUpperCase().repeat(times) }),
  render: ({ said }) => `${said}!`
})

const save = defineTool({
  name: "save",
  description: "Writes a file.",
  input: z.strictObject({ path: z.string(), content: z.string() }),
  output: z.object({ path: z.string() }),
  risk: "safe_write",
  touches: ({ path }) => ({ writes: [path] }),
  preview: ({ content }) => Effect.succeed(`+${content}`),
  execute: Effect.fnUntraced(function* ({ path, content }) {
    const workspace = yield* Workspace
    yield* workspace.commit([{ kind: "write", path, content: new TextEncoder().encode(content) }])
    return { path }
  })
})

const broken = defineTool({
  name: "broken",
  description: "Has a bug.",
  input: z.strictObject({ how: z.enum(["throws", "dies", "answers wrongly", "is starved"]) }),
  output: z.object({ said: z.string() }),
  risk: "read_only",
  execute: ({ how }) => {
    if (how === "throws") throw new Error("a bug")
    if (how === "is starved") throw Object.assign(new Error("too many open files"), { code: "EMFILE" })
    return how === "dies" ? Effect.die("a bug") : Effect.succeed({ said: 1 as unknown as string })
  }
})

const waits = defineTool({
  name: "waits",
  description: "Never ends.",
  input: z.strictObject({}),
  output: z.object({}),
  risk: "read_only",
  timeout: "20 millis",
  execute: () => Effect.flatMap(reportProgress({ message: "waiting" }), () => Effect.never)
})

const fails = defineTool({
  name: "fails",
  description: "Fails in its own words.",
  input: z.strictObject({ name: z.string() }),
  output: z.object({}),
  risk: "read_only",
  execute: () => toolError("file_not_found", "no such file", { suggestion: "Look elsewhere." }),
  wording: { file_not_found: (_error, { name }) => `'${name}' is gone` }
})

interface Setup {
  readonly approver?: Layer.Layer<Approver>
  readonly journal?: Layer.Layer<Journal>
  readonly files?: Record<string, string>
}

const withHost = <A, E>(
  use_: (context: { host: Host["Service"]; events: Array<JournalEvent> }) => Effect.Effect<A, E, Workspace>,
  { approver = denyAll, files = {}, journal }: Setup = {}
): Effect.Effect<A, unknown> => {
  const events: Array<JournalEvent> = []
  const plugin = definePlugin({ name: "words", version: "1.0.0", tools: [shout, save, broken, waits, fails] })
  const services = Layer.mergeAll(memoryWorkspace(files), journal ?? memoryJournal(events), approver)
  const layer = Host.layer({ dialect: plain, plugins: [use(plugin)] }).pipe(Layer.provideMerge(services))
  return Effect.flatMap(Host, (host) => use_({ host, events })).pipe(Effect.provide(layer))
}

const answering = (answer: (question: ApprovalQuestion, count: number) => Effect.Effect<Answer>) => {
  const questions: Array<ApprovalQuestion> = []
  const layer = Layer.succeed(Approver, {
    judge: ({ asks, facts }) =>
      Effect.succeed(
        facts.writes.some(({ path }) => path === "never.txt")
          ? { decision: "deny", reason: "never.txt is off limits" }
          : { decision: asks ? "ask" : "allow", reason: "the contract asks" }
      ),
    ask: (question) => {
      questions.push(question)
      return answer(question, questions.length)
    }
  })
  return { layer, questions }
}

describe("the road", () => {
  it.effect("decodes, executes and encodes, and puts both ends on record", () =>
    withHost(({ host, events }) =>
      Effect.gen(function* () {
        const reply = yield* host.call("shout", { word: "hey", times: 2 }, { requestId: "r1" })
        expect(reply).toEqual({
          ok: true,
          output: { said: "HEYHEY" },
          wire: { output: { said: "HEYHEY" }, writes: [] },
          text: "HEYHEY!",
          blocks: [{ type: "text", text: "HEYHEY!" }],
          writes: [],
          adjusted: [],
          durationMs: expect.any(Number)
        })
        expect(events.map(({ type, request_id, status }) => [type, request_id, status])).toEqual([
          ["tool_call_started", "r1", undefined],
          ["tool_call_finished", "r1", "success"]
        ])
      })
    )
  )

  it.effect.each([
    [{}, "missing parameter 'word' (expected string)"],
    [{ word: 1 }, "parameter 'word': expected a string, got a number"],
    [{ word: "a", times: "2" }, "parameter 'times': expected a number, got a string"],
    [{ word: "a", volume: 11 }, "unknown parameter 'volume'"],
    [{ word: "a", times: 0 }, "parameter 'times': expected a number of at least 1"],
    [["a"], "the parameters must be an object: expected an object, got an array"],
    ['{"word":', "the parameters must be an object, not a text: what is no valid JSON arrives as one"]
  ] as const)("refuses %j and names what is wrong", ([args, message]) =>
    withHost(({ host }) =>
      Effect.gen(function* () {
        const reply = yield* host.call("shout", args)
        expect(reply.wire).toEqual({ error: "invalid_params", message })
      })
    )
  )

  it.effect("tells parameters that do not fit together from what is no object", () => {
    const either = defineTool({
      name: "either",
      description: "Takes one of two.",
      input: z
        .strictObject({ a: z.string().optional(), b: z.string().optional() })
        .refine(({ a, b }) => (a === undefined) !== (b === undefined), "Give a or b, not both."),
      output: z.object({}),
      risk: "read_only",
      execute: () => Effect.succeed({})
    })
    const plugin = definePlugin({ name: "either", version: "1.0.0", tools: [either] })
    const host = Host.layer({ dialect: plain, plugins: [use(plugin)] }).pipe(
      Layer.provide(Layer.mergeAll(memoryWorkspace(), memoryJournal(), denyAll))
    )
    return Effect.gen(function* () {
      const { call } = yield* Host
      const { error } = yield* call("either", {})
      expect(error?.message).toBe("the parameters do not fit together: Give a or b, not both.")
    }).pipe(Effect.provide(host))
  })

  it.effect("refuses arguments that are not JSON data, and audits the refusal", () =>
    withHost(({ host, events }) =>
      Effect.gen(function* () {
        const endless: Record<string, unknown> = { word: "a" }
        endless["again"] = endless
        const reply = yield* host.call("shout", endless)
        expect(reply.error).toMatchObject({
          code: "invalid_params",
          message: "the parameters are not JSON data: they have values more than 64 levels deep"
        })
        expect(events.map(({ type }) => type)).toEqual(["tool_call_started", "tool_call_finished"])
      })
    )
  )

  it.effect("names the tools there are when one is unknown", () =>
    withHost(({ host }) =>
      Effect.gen(function* () {
        const reply = yield* host.call("whisper", {})
        expect(reply.wire).toEqual({ error: "unknown_tool", message: "unknown tool 'whisper'" })
        expect(reply.error?.suggestion).toContain("shout, save")
      })
    )
  )

  it.effect("says what the machine had no more of, and that trying again may help", () =>
    withHost(({ host }) =>
      Effect.gen(function* () {
        const reply = yield* host.call("broken", { how: "is starved" })
        expect(reply.error).toMatchObject({
          code: "out_of_resources",
          message: "the machine ran out of open files for this process during broken",
          retryable: true
        })
      })
    )
  )

  it.effect.each(["throws", "dies", "answers wrongly"])("turns a tool that %s into internal_error and goes on", (how) =>
    withHost(({ host, events }) =>
      Effect.gen(function* () {
        const reply = yield* host.call("broken", { how })
        expect(reply.error?.code).toBe("internal_error")
        expect(events.at(-1)).toMatchObject({ status: "error", error: "internal_error" })
        expect((yield* host.call("shout", { word: "still here" })).ok).toBe(true)
      })
    )
  )

  it.live("stops a tool at its time-out and passes its progress on", () =>
    withHost(({ host }) =>
      Effect.gen(function* () {
        const seen: Array<string> = []
        const reply = yield* host.call("waits", {}, { onProgress: ({ message }) => seen.push(message) })
        expect(reply.error).toMatchObject({
          code: "timeout",
          retryable: true,
          suggestion: expect.stringContaining("less at once")
        })
        expect(seen).toEqual(["waiting"])
      })
    )
  )

  it.live("lets an interruption through, after recording it as cancelled", () =>
    withHost(({ host, events }) =>
      Effect.gen(function* () {
        const begun = yield* Deferred.make<void>()
        const fiber = yield* Effect.forkChild(
          host.call("waits", {}, { onProgress: () => Deferred.doneUnsafe(begun, Effect.void) })
        )
        yield* Deferred.await(begun)
        yield* Fiber.interrupt(fiber)
        expect(events.at(-1)).toMatchObject({ type: "tool_call_finished", error: "cancelled" })
      })
    )
  )

  it.live("records a no for a question that is cancelled before anybody answers", () => {
    const asked = Deferred.makeUnsafe<void>()
    const { layer } = answering(() => Effect.andThen(Deferred.succeed(asked, undefined), Effect.never))
    return withHost(
      ({ host, events }) =>
        Effect.gen(function* () {
          const fiber = yield* Effect.forkChild(host.call("save", { path: "a.txt", content: "x" }))
          yield* Deferred.await(asked)
          yield* Fiber.interrupt(fiber)
          expect(events.slice(1)).toMatchObject([
            { type: "approval_requested" },
            {
              type: "approval_decided",
              decision: "deny",
              by: "nobody",
              reason: expect.stringContaining("canceled the call")
            },
            { type: "tool_call_finished", error: "cancelled", approval: { decision: "deny", by: "nobody" } }
          ])
        }),
      { approver: layer }
    )
  })

  it.effect("uses the tool's own words for a failure and keeps code and suggestion", () =>
    withHost(({ host }) =>
      Effect.gen(function* () {
        const reply = yield* host.call("fails", { name: "a.txt" })
        expect(reply.wire).toEqual({ error: "file_not_found", message: "'a.txt' is gone" })
        expect(reply.text).toBe("Error: 'a.txt' is gone\nLook elsewhere.")
      })
    )
  )

  it.effect("hands out nothing that is not on record, and does not hide what was done all the same", () => {
    const { layer: approver } = answering(() => Effect.succeed({ approved: true }))
    const asked: Array<unknown> = []
    const journal = Layer.succeed(Journal, {
      run: "full",
      nextStep: () => 1,
      append: ({ type }, options) => {
        asked.push([type, options?.canWait])
        return type === "tool_call_finished" ? toolError("journal_unavailable", "the disk is full") : Effect.void
      },
      subscribe: () => () => {}
    })
    return withHost(
      ({ host }) =>
        Effect.gen(function* () {
          expect(yield* host.call("shout", { word: "hi" })).toMatchObject({
            ok: false,
            wire: { error: "journal_unavailable", message: "the disk is full" }
          })
          expect(asked.splice(0)).toEqual([
            ["tool_call_started", "unheeded"],
            ["tool_call_finished", "awaited"]
          ])
          expect(yield* host.call("save", { path: "a.txt", content: "x" })).toMatchObject({ ok: true })
          // A change is on record before it is made.
          expect(asked[0]).toEqual(["tool_call_started", undefined])
          expect(asked.at(-1)).toEqual(["tool_call_finished", undefined])
        }),
      { approver, journal }
    )
  })

  it.effect("keeps secrets out of the record", () =>
    withHost(({ host, events }) =>
      Effect.gen(function* () {
        yield* host.call("shout", { word: "ghp_abcdefghijklmnopqrstuvwxyz0123456789" })
        expect(JSON.stringify(events)).not.toContain("ghp_abc")
        expect(events[0]).toMatchObject({ params: { word: "[redacted]" } })
      })
    )
  )
})

describe("a tool's own say in the record", () => {
  const login = defineTool({
    name: "login",
    description: "Takes a password.",
    input: z.strictObject({ word: z.string() }),
    output: z.object({ length: z.number() }),
    risk: "read_only",
    forRecord: (args) => {
      if (typeof args !== "object") throw new Error("a bug")
      return Effect.succeed({ ...args, word: "(hidden)" })
    },
    execute: ({ word }) => Effect.succeed({ length: word.length })
  })

  it.effect.each([
    [{ word: "hunter2" }, { word: "(hidden)" }, true],
    [{ word: "hunter2", unknown: 1 }, { word: "(hidden)", unknown: 1 }, false],
    ["hunter2", "[withheld]", false]
  ] as const)("records %j as %j", ([args, params, ok]) => {
    const events: Array<JournalEvent> = []
    const plugin = definePlugin({ name: "logins", version: "1.0.0", tools: [login] })
    const host = Host.layer({ dialect: plain, plugins: [use(plugin)] }).pipe(
      Layer.provide(Layer.mergeAll(memoryWorkspace(), memoryJournal(events), denyAll))
    )
    return Effect.gen(function* () {
      const { call } = yield* Host
      expect((yield* call("login", args)).ok).toBe(ok)
      expect(events[0]).toMatchObject({ type: "tool_call_started", params })
      expect(JSON.stringify(events)).not.toContain("hunter2")
    }).pipe(Effect.provide(host))
  })
})

describe("approval", () => {
  it.effect("is a no when nobody is there, and nothing is changed", () =>
    withHost(({ host, events }) =>
      Effect.gen(function* () {
        const reply = yield* host.call("save", { path: "a.txt", content: "x" })
        expect(reply.error?.code).toBe("approval_denied")
        expect(yield* (yield* Workspace).fingerprint("a.txt")).toBe("absent")
        expect(events.map(({ type }) => type)).toEqual(["tool_call_started", "approval_decided", "tool_call_finished"])
      })
    )
  )

  it.effect("shows the person the input, what is written and a preview", () => {
    const { layer, questions } = answering(() => Effect.succeed({ approved: true }))
    return withHost(
      ({ host }) =>
        Effect.gen(function* () {
          expect((yield* host.call("save", { path: "./b/../a.txt", content: "x" })).ok).toBe(true)
          expect(questions).toHaveLength(1)
          expect(questions[0]).toMatchObject({
            input: { path: "./b/../a.txt", content: "x" },
            facts: { writes: [{ path: "a.txt", exists: false, isProtected: false }], risk: "safe_write" },
            preview: "+x",
            asks: true
          })
        }),
      { approver: layer }
    )
  })

  it.effect("can be left to the caller, by an approver that asks it", () => {
    const { layer } = answering((question) =>
      CurrentCall.use(({ ask }) => ask?.(question) ?? Effect.succeed({ approved: false }))
    )
    return withHost(
      ({ host }) =>
        Effect.gen(function* () {
          const args = { path: "a.txt", content: "x" }
          const yes = () => Effect.succeed({ approved: true })
          expect((yield* host.call("save", args)).ok).toBe(false)
          expect((yield* host.call("save", args, { ask: yes })).ok).toBe(true)
        }),
      { approver: layer }
    )
  })

  it.effect("puts on record what the call touched and who decided, whatever came of it", () => {
    const { layer } = answering(({ input }) => Effect.succeed({ approved: input["path"] === "a.txt" }))
    return withHost(
      ({ host, events }) =>
        Effect.gen(function* () {
          yield* host.call("save", { path: "a.txt", content: "x" })
          yield* host.call("save", { path: "b.txt", content: "x" })
          yield* host.call("save", { path: "never.txt", content: "x" })
          yield* host.call("shout", { word: "hey" })
          const finished = events.filter(({ type }) => type === "tool_call_finished")
          expect(finished.map(({ touches, approval }) => ({ touches, approval }))).toEqual([
            {
              touches: { risk: "safe_write", writes: [{ path: "a.txt", exists: false }] },
              approval: { decision: "allow", by: "person", reason: "approved", asks: true }
            },
            {
              touches: { risk: "safe_write", writes: [{ path: "b.txt", exists: false }] },
              approval: { decision: "deny", by: "person", reason: "the request was refused", asks: true }
            },
            {
              touches: { risk: "safe_write", writes: [{ path: "never.txt", exists: false }] },
              approval: { decision: "deny", by: "policy", reason: "never.txt is off limits", asks: true }
            },
            {
              touches: { risk: "read_only" },
              approval: { decision: "allow", by: "policy", reason: "the contract asks", asks: false }
            }
          ])
        }),
      { approver: layer }
    )
  })

  it.effect("puts on record how long a person was waited for", () => {
    const { layer } = answering(() => Effect.as(TestClock.adjust("3 seconds"), { approved: true }))
    return withHost(
      ({ host, events }) =>
        Effect.gen(function* () {
          yield* host.call("save", { path: "a.txt", content: "x" })
          yield* host.call("shout", { word: "hey" })
          const finished = events.filter(({ type }) => type === "tool_call_finished")
          expect(finished.map(({ duration_sec, waited_sec }) => [duration_sec, waited_sec])).toEqual([
            [3, 3],
            [0, undefined]
          ])
        }),
      { approver: layer }
    )
  })

  it.effect("decodes arguments as the road would, for those who read the record", () =>
    withHost(({ host }) =>
      Effect.gen(function* () {
        expect(JSON.stringify(yield* host.decode("shout", { times: 2, word: "a" }))).toBe('{"word":"a","times":2}')
        expect(yield* host.decode("shout", { word: "a" })).toEqual({ word: "a", times: 1 })
        expect((yield* Effect.flip(host.decode("shout", {}))).code).toBe("invalid_params")
      })
    )
  )

  it.effect("asks again when the file changes between question and answer", () => {
    const { layer, questions } = answering((_question, count) =>
      count > 1 ? Effect.succeed({ approved: true }) : Effect.succeed({ approved: true }).pipe(Effect.tap(() => change))
    )
    let change: Effect.Effect<unknown> = Effect.void
    return withHost(
      ({ host }) =>
        Effect.gen(function* () {
          const workspace = yield* Workspace
          const content = new TextEncoder().encode("swapped")
          change = Effect.orDie(workspace.commit([{ kind: "write", path: "a.txt", content }]))
          expect((yield* host.call("save", { path: "a.txt", content: "x" })).ok).toBe(true)
          expect(questions).toHaveLength(2)
          expect(questions[0]?.state.get("a.txt")).not.toBe(questions[1]?.state.get("a.txt"))
        }),
      { approver: layer, files: { "a.txt": "old" } }
    )
  })

  it.effect("runs edited arguments after judging them again, and never past a deny", () => {
    const { layer, questions } = answering(({ input }) =>
      Effect.succeed({
        approved: true,
        comment: "keep it short",
        modifiedArgs: { path: input["path"] === "a.txt" ? "b.txt" : "never.txt", content: "edited" }
      })
    )
    return withHost(
      ({ host, events }) =>
        Effect.gen(function* () {
          const workspace = yield* Workspace
          const reply = yield* host.call("save", { path: "a.txt", content: "x" })
          expect(reply).toMatchObject({
            ok: true,
            adjusted: [
              "the approver's comment: keep it short",
              'approved with changes: path is "b.txt", content is "edited"'
            ]
          })
          expect(new TextDecoder().decode(yield* workspace.read("b.txt"))).toBe("edited")
          expect(events.find(({ type }) => type === "approval_decided")).toMatchObject({
            decision: "allow",
            params: { path: "b.txt", content: "edited" }
          })
          expect(yield* workspace.fingerprint("a.txt")).toBe("absent")
          const refused = yield* host.call("save", { path: "c.txt", content: "x" })
          expect(refused.error?.code).toBe("approval_denied")
          expect(questions).toHaveLength(2)
        }),
      { approver: layer }
    )
  })

  it.each([
    [{ approved: false, unanswered: true, reason: "too late" }, "too late"],
    [{ approved: false, unanswered: true }, "nobody answered"],
    [{ approved: true, unanswered: true }, "nobody answered"]
  ])("takes %j for nobody's no", async (answer, reason) => {
    const { layer } = answering(() => Effect.succeed(answer))
    await Effect.runPromise(
      withHost(
        ({ host, events }) =>
          Effect.gen(function* () {
            const reply = yield* host.call("save", { path: "a.txt", content: "x" })
            expect(reply.error).toMatchObject({
              code: "approval_denied",
              message: `the call was not approved: ${reason}`,
              details: { by: "nobody" }
            })
            const decision = { decision: "deny", by: "nobody", reason }
            expect(events.slice(1)).toMatchObject([
              { type: "approval_requested" },
              { type: "approval_decided", ...decision },
              { type: "tool_call_finished", approval: decision }
            ])
          }),
        { approver: layer }
      )
    )
  })

  it.effect("asks again about edited arguments that do more harm than those that were shown", () => {
    const { layer, questions } = answering(({ facts }) =>
      Effect.succeed(
        facts.risk === "dangerous"
          ? { approved: false, reason: "not that one" }
          : { approved: true, modifiedArgs: { path: ".git/hooks/pre-commit", content: "edited" } }
      )
    )
    return withHost(
      ({ host }) =>
        Effect.gen(function* () {
          const reply = yield* host.call("save", { path: "a.txt", content: "x" })
          expect(reply.error?.message).toBe("the call was not approved: not that one")
          expect(questions.map(({ input, facts }) => [input["path"], facts.risk])).toEqual([
            ["a.txt", "safe_write"],
            [".git/hooks/pre-commit", "dangerous"]
          ])
          const workspace = yield* Workspace
          expect(yield* workspace.fingerprint(".git/hooks/pre-commit")).toBe("absent")
        }),
      { approver: layer }
    )
  })

  it.effect("refuses edited arguments that do not fit the schema", () => {
    const { layer } = answering(() => Effect.succeed({ approved: true, modifiedArgs: { path: 1 } }))
    return withHost(
      ({ host }) =>
        Effect.gen(function* () {
          const reply = yield* host.call("save", { path: "a.txt", content: "x" })
          expect(reply.error?.code).toBe("invalid_params")
        }),
      { approver: layer }
    )
  })

  it.effect("lets a tool ask by what a service of its plugin says", () => {
    class Trusted extends Context.Service<Trusted, ReadonlyArray<string>>()("test/Trusted") {}
    const greet = defineTool({
      name: "greet",
      description: "Greets.",
      input: z.strictObject({ name: z.string() }),
      output: z.object({}),
      risk: "dangerous",
      asks: (_facts, { name }) => Trusted.useSync((names) => !names.includes(name)),
      execute: () => Effect.succeed({})
    })
    const plugin = definePlugin({
      name: "greetings",
      version: "1.0.0",
      config: z.strictObject({ trusted: z.array(z.string()) }),
      tools: [greet],
      layer: ({ trusted }) => Layer.succeed(Trusted, trusted)
    })
    const host = Host.layer({ dialect: plain, plugins: [use(plugin, { trusted: ["Ada"] })] }).pipe(
      Layer.provide(Layer.mergeAll(memoryWorkspace(), memoryJournal(), denyAll))
    )
    return Effect.gen(function* () {
      const { call, preview } = yield* Host
      expect((yield* call("greet", { name: "Ada" })).ok).toBe(true)
      expect((yield* call("greet", { name: "Bob" })).error?.code).toBe("approval_denied")
      expect((yield* preview("greet", { name: "Bob" })).asks).toBe(true)
    }).pipe(Effect.provide(host))
  })

  it.effect("raises the risk of a protected name", () => {
    const { layer, questions } = answering(() => Effect.succeed({ approved: true }))
    return withHost(
      ({ host }) =>
        Effect.gen(function* () {
          yield* host.call("save", { path: ".GIT/hooks/pre-commit", content: "x" })
          expect(questions[0]?.facts.risk).toBe("dangerous")
        }),
      { approver: layer }
    )
  })

  it.effect("refuses a path that leads out before anybody is asked", () => {
    const { layer, questions } = answering(() => Effect.succeed({ approved: true }))
    return withHost(
      ({ host }) =>
        Effect.gen(function* () {
          const reply = yield* host.call("save", { path: "../a.txt", content: "x" })
          expect(reply.error?.code).toBe("path_outside_workspace")
          expect(questions).toHaveLength(0)
        }),
      { approver: layer }
    )
  })
})
