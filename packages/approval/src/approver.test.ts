import { describe, expect, it } from "@effect/vitest"
import {
  type Answer,
  defineDialect,
  definePlugin,
  defineTool,
  Host,
  type JournalEvent,
  memoryJournal,
  memoryState,
  memoryWorkspace,
  Network,
  networkPolicy,
  use,
  Workspace
} from "@haft/core"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { TestClock } from "effect/testing"
import * as z from "zod"

import {
  ApprovalGate,
  type Asker,
  askCallback,
  askCallerOr,
  askNobody,
  askThroughGate,
  policyApprover,
  type PolicyApproverOptions,
  type Question,
  Rule,
  RuleStore,
  stateRules
} from "./index.ts"

const dialect = defineDialect({
  name: "plain",
  symlinks: "inside",
  asks: (risk) => risk !== "read_only",
  success: ({ output }) => output,
  failure: ({ errorName, error }) => ({ error: errorName, message: error.message }),
  envelope: (output) => output
})

const save = defineTool({
  name: "save",
  description: "Writes a file.",
  input: z.strictObject({ path: z.string(), content: z.string().default("") }),
  output: z.object({ path: z.string() }),
  risk: "safe_write",
  touches: ({ path }) => ({ writes: [path] }),
  execute: Effect.fnUntraced(function* ({ path, content }) {
    const workspace = yield* Workspace
    yield* workspace.commit([{ kind: "write", path, content: new TextEncoder().encode(content) }])
    return { path }
  })
})

const run = defineTool({
  name: "run",
  description: "Pretends to run a command.",
  input: z.strictObject({ command: z.string() }),
  output: z.object({ ran: z.string() }),
  risk: "dangerous",
  touches: ({ command }) => ({ runs: command }),
  execute: ({ command }) => Effect.succeed({ ran: command })
})

const type = defineTool({
  name: "type",
  description: "Pretends to type.",
  input: z.strictObject({ text: z.string() }),
  output: z.object({}),
  risk: "dangerous",
  touches: ({ text }) => ({ types: { terminal: "1", text } }),
  execute: () => Effect.succeed({})
})

const fetchPage = defineTool({
  name: "fetch",
  description: "Pretends to fetch.",
  input: z.strictObject({ url: z.string() }),
  output: z.object({}),
  risk: "dangerous",
  touches: ({ url }) => ({ fetches: url }),
  execute: () => Effect.succeed({})
})

interface Setup {
  readonly answer?: (question: Question) => Answer | Promise<Answer>
  readonly options?: PolicyApproverOptions
  readonly documents?: Map<string, Uint8Array>
}

const withHost = <A>(
  use_: (context: {
    host: Host["Service"]
    store: RuleStore["Service"]
    workspace: Workspace["Service"]
    questions: Array<Question>
    events: Array<JournalEvent>
    documents: Map<string, Uint8Array>
  }) => Effect.Effect<A, unknown>,
  { answer = () => ({ approved: true }), options = {}, documents = new Map() }: Setup = {}
): Effect.Effect<A, unknown> => {
  const questions: Array<Question> = []
  const events: Array<JournalEvent> = []
  const asker = askCallback((question) => {
    questions.push(question)
    return answer(question)
  })
  const services = policyApprover(options).pipe(
    Layer.provideMerge(Layer.mergeAll(asker, stateRules)),
    Layer.provideMerge(
      Layer.mergeAll(memoryState(documents), memoryWorkspace({ "old.txt": "old" }), memoryJournal(events))
    )
  )
  const plugin = definePlugin({ name: "p", version: "1.0.0", tools: [save, run, type, fetchPage] })
  const layer = Host.layer({ dialect, plugins: [use(plugin)] }).pipe(Layer.provideMerge(services))
  return Effect.gen(function* () {
    const context = {
      host: yield* Host,
      store: yield* RuleStore,
      workspace: yield* Workspace,
      questions,
      events,
      documents
    }
    return yield* use_(context)
  }).pipe(Effect.provide(layer))
}

const write = (text: string) => new TextEncoder().encode(text)

const exactly = { offer: "exact", scope: "workspace" } as const

describe("a host with a policy", () => {
  it.live("asks where the contract wishes it, and runs what was approved", () =>
    withHost(({ host, questions }) =>
      Effect.gen(function* () {
        expect((yield* host.call("save", { path: "a.txt" })).ok).toBe(true)
        expect(questions).toHaveLength(1)
        expect(questions[0]).toMatchObject({
          reason: "save writes new files",
          workspace: "/memory",
          binding: expect.stringMatching(/^[0-9a-f]{64}$/),
          offers: [
            { id: "files", label: "changes of a.txt", rule: { tool: "save", touches: { writes: ["a.txt"] } } },
            {
              id: "exact",
              label: "exactly these arguments",
              rule: { tool: "save", exactly: { path: "a.txt", content: "" }, workspace: "/memory" }
            }
          ]
        })
      })
    )
  )

  it.live("remembers exactly a call: it is not asked about again, any other is", () => {
    let asked = 0
    return withHost(
      ({ host, questions, store, events }) =>
        Effect.gen(function* () {
          yield* host.call("save", { path: "a.txt", content: "x" })
          expect((yield* host.call("save", { content: "x", path: "a.txt" })).ok).toBe(true)
          expect(questions).toHaveLength(1)
          yield* host.call("save", { path: "a.txt", content: "y" })
          yield* host.call("save", { path: "./a.txt", content: "x" })
          expect(questions).toHaveLength(3)
          const rules = yield* store.current
          const id = "rules" in rules ? (rules.rules[0]?.id ?? "") : ""
          expect(events.find(({ approval }) => (approval as { rule?: string } | undefined)?.rule === id)).toBeDefined()

          expect(yield* store.setEnabled(id, false)).toBe(true)
          yield* host.call("save", { path: "a.txt", content: "x" })
          expect(questions).toHaveLength(4)
          expect(yield* store.setEnabled(id, true)).toBe(true)
          yield* host.call("save", { path: "a.txt", content: "x" })
          expect(questions).toHaveLength(4)
          expect(yield* store.remove(id)).toBe(true)
          expect(yield* store.remove(id)).toBe(false)
          yield* host.call("save", { path: "a.txt", content: "x" })
          expect(questions).toHaveLength(5)
        }),
      { answer: () => (asked++ === 0 ? { approved: true, remember: exactly } : { approved: true }) }
    )
  })

  it.live.each([
    ["files", "save", { path: "src/a/b.txt" }, [{ path: "src/a/b.txt", content: "y" }], [{ path: "src/a/c.txt" }]],
    ["directory", "save", { path: "src/a/b.txt" }, [{ path: "src/a/c/d.txt" }], [{ path: "src/b.txt" }]],
    ["directory-above", "save", { path: "src/a/b.txt" }, [{ path: "src/c.txt" }], [{ path: "b.txt" }]],
    ["command", "run", { command: "npm test" }, [{ command: "npm test" }], [{ command: "npm test -- a" }]],
    [
      "command-prefix",
      "run",
      { command: "npm test" },
      [{ command: "npm test a b" }, { command: "npm test --silent" }],
      [{ command: "npm run x" }, { command: "npm test --prefix=/x" }, { command: "npm test > x" }]
    ],
    [
      "command-prefix",
      "run",
      { command: "npm run build" },
      [{ command: "npm run build a" }],
      [{ command: "npm run x" }]
    ],
    [
      "command",
      "run",
      { command: "git status && git diff" },
      [{ command: "git diff; git status" }],
      [{ command: "git status && git log" }]
    ],
    [
      "page",
      "fetch",
      { url: "https://docs.example/a" },
      [{ url: "https://docs.example/a" }],
      [{ url: "https://docs.example/b" }]
    ],
    [
      "host",
      "fetch",
      { url: "https://docs.example/a" },
      [{ url: "https://docs.example/b" }],
      [{ url: "https://x.example/a" }]
    ]
  ] as const)("allows what is like a call, as wide as %s", ([offer, tool, first, covered, others]) => {
    const args: ReadonlyArray<Readonly<Record<string, unknown>>> = [...covered]
    const uncovered: ReadonlyArray<Readonly<Record<string, unknown>>> = [...others]
    let asked = 0
    const remember = { offer, scope: "run" } as const
    return withHost(
      ({ host, questions }) =>
        Effect.gen(function* () {
          yield* host.call(tool, first)
          expect(questions[0]?.offers.map(({ id }) => id)).toContain(offer)
          for (const one of args) yield* host.call(tool, one)
          expect(questions).toHaveLength(1)
          for (const one of uncovered) yield* host.call(tool, one)
          expect(questions).toHaveLength(1 + uncovered.length)
        }),
      { answer: () => (asked++ === 0 ? { approved: true, remember } : { approved: true }) }
    )
  })

  it.live("remembers for a run, for a workspace or for all, and until a time", () => {
    const answers: Array<Answer> = [
      { approved: true, remember: { offer: "files", scope: "run" } },
      { approved: true, remember: { offer: "files", scope: "workspace", expires: "2020-01-01T00:00:00Z" } },
      { approved: true, remember: { offer: "files", scope: "always" } },
      { approved: true, remember: { offer: "everything", scope: "always" } }
    ]
    return withHost(
      ({ host, questions, store, documents, events }) =>
        Effect.gen(function* () {
          for (const path of ["1", "1", "2", "2", "3", "3"]) yield* host.call("save", { path })
          const stored = JSON.parse(new TextDecoder().decode(documents.get("rules.json"))) as { rules: Array<Rule> }
          expect(stored.rules).toMatchObject([
            { touches: { writes: ["2"] }, workspace: "/memory", expires: "2020-01-01T00:00:00Z" },
            { touches: { writes: ["2"] } }
          ])
          expect(stored.rules[1]).not.toHaveProperty("workspace")
          const reasons = events.flatMap(({ type, reason }) => (type === "approval_decided" ? [reason] : []))
          expect(reasons).toEqual([
            expect.stringMatching(/^approved, and in this run by rule/),
            expect.stringMatching(/^approved, and from now on by rule/),
            expect.stringMatching(/^approved, and from now on, everywhere, by rule/),
            "approved this once; there was no such rule to store",
            "approved"
          ])
          expect(questions).toHaveLength(5)
          const rules = yield* store.current
          const ofRun = "rules" in rules ? rules.rules.find(({ touches }) => touches?.writes?.includes("1")) : undefined
          expect(yield* store.remove(ofRun?.id ?? "")).toBe(true)
          yield* host.call("save", { path: "1" })
          expect(questions).toHaveLength(6)
        }),
      { answer: () => answers.shift() ?? { approved: true } }
    )
  })

  it.live("remembers long arguments by their hash", () =>
    withHost(
      ({ host, questions, store }) =>
        Effect.gen(function* () {
          const content = "long ".repeat(2000)
          yield* host.call("save", { path: "a.txt", content })
          yield* host.call("save", { path: "a.txt", content })
          expect(questions).toHaveLength(1)
          yield* host.call("save", { path: "a.txt", content: `${content}.` })
          expect(questions).toHaveLength(2)
          const rules = yield* store.current
          expect("rules" in rules && rules.rules[0]?.exactlySha256).toMatch(/^[0-9a-f]{64}$/)
        }),
      { answer: () => ({ approved: true, remember: exactly }) }
    )
  )

  it.live.each([
    ["run", { command: "sudo npm test" }, "sudo is a wrapper: it runs whatever its arguments say"],
    ["run", { command: "python3 -c 'x'" }, "python3 is an interpreter: it runs whatever its arguments say"],
    ["run", { command: "npm test > x" }, "only simple commands can be remembered: it is more than one simple command"],
    ["type", { text: "ls" }, "what is typed into a terminal is never remembered"],
    [
      "save",
      { path: ".npmrc", content: "x".repeat(5000) },
      "a rule for a protected file must spell it out, and these arguments are too long for that"
    ]
  ] as const)("never remembers %s %j", ([tool, args, whyNot]) =>
    withHost(
      ({ host, questions, documents }) =>
        Effect.gen(function* () {
          expect((yield* host.call(tool, args)).ok).toBe(true)
          expect((yield* host.call(tool, args)).ok).toBe(true)
          const offered = questions.map(({ offers, whyNoOffer }) => [offers, whyNoOffer])
          expect(offered).toEqual([
            [[], whyNot],
            [[], whyNot]
          ])
          expect(documents.size).toBe(0)
        }),
      { answer: () => ({ approved: true, remember: exactly }) }
    )
  )

  it.live("stores no rule for edited arguments, and judges them by the rules", () =>
    withHost(
      ({ host, store, workspace, documents }) =>
        Effect.gen(function* () {
          yield* store.add(Rule.parse({ id: "no", tool: "save", decision: "deny", touches: { writes: "secret/**" } }))
          const before = documents.get("rules.json")
          const reply = yield* host.call("save", { path: "a.txt" })
          expect(reply.wire).toEqual({
            error: "approval_denied",
            message: "the call was not approved: rule no forbids it"
          })
          expect(yield* workspace.fingerprint("secret/a.txt")).toBe("absent")
          expect(documents.get("rules.json")).toBe(before)
        }),
      { answer: () => ({ approved: true, remember: exactly, modifiedArgs: { path: "secret/a.txt" } }) }
    )
  )

  it.live("asks again, for another binding, when the file is swapped between question and answer", () => {
    let swap: Effect.Effect<unknown> = Effect.void
    return withHost(
      ({ host, workspace, questions }) =>
        Effect.gen(function* () {
          swap = Effect.orDie(workspace.commit([{ kind: "write", path: "old.txt", content: write("swapped") }]))
          expect((yield* host.call("save", { path: "old.txt" })).ok).toBe(true)
          expect(questions).toHaveLength(2)
          expect(questions[0]?.binding).not.toBe(questions[1]?.binding)
        }),
      {
        answer: async () => {
          await Effect.runPromise(swap)
          swap = Effect.void
          return { approved: true }
        }
      }
    )
  })

  it.live("denies everything while the rules can't be read, and says so", () =>
    withHost(
      ({ host, questions, documents, store }) =>
        Effect.gen(function* () {
          const reply = yield* host.call("save", { path: "a.txt" })
          expect(reply.wire).toEqual({
            error: "approval_denied",
            message:
              "the call was not approved: the approval rules can't be read, so nothing is allowed: it is not JSON"
          })
          expect(questions).toHaveLength(0)
          expect((yield* Effect.flip(store.add(Rule.parse({ id: "a", tool: "save" })))).message).toBe("it is not JSON")
          expect(documents.get("rules.json")).toEqual(write("{torn"))
          documents.set("rules.json", write('{"version":1,"rules":[]}'))
          expect((yield* host.call("save", { path: "a.txt" })).ok).toBe(true)
        }),
      { documents: new Map([["rules.json", write("{torn")]]) }
    )
  )

  it.live("does not read rules that are not UTF-8 to the last byte", () =>
    withHost(
      ({ host }) =>
        Effect.gen(function* () {
          expect(yield* host.call("save", { path: "a.txt" })).toMatchObject({
            ok: false,
            error: { code: "approval_denied", message: expect.stringContaining("it is not UTF-8") }
          })
        }),
      {
        documents: new Map([
          [
            "rules.json",
            Buffer.concat([write('{"version":1,"rules":[{"id":"'), Buffer.of(0xff), write('","tool":"save"}]}')])
          ]
        ])
      }
    )
  )

  it.effect("does not bring back a rule that was over when the clock is set back", () =>
    withHost(
      ({ host, store, questions }) =>
        Effect.gen(function* () {
          yield* TestClock.setTime(1_000_000)
          yield* store.add(Rule.parse({ id: "short", tool: "save", expires: new Date(1_500_000).toISOString() }))
          expect((yield* host.call("save", { path: "a.txt" })).ok).toBe(true)
          yield* TestClock.setTime(1_600_000)
          expect((yield* host.call("save", { path: "b.txt" })).ok).toBe(false)
          yield* TestClock.setTime(1_100_000)
          expect((yield* host.call("save", { path: "c.txt" })).ok).toBe(false)
          expect(questions).toHaveLength(2)
        }),
      { answer: () => ({ approved: false }) }
    )
  )

  it.live("lets a rule allow as often as it says, and no more, also at once", () =>
    withHost(
      ({ host, store, questions }) =>
        Effect.gen(function* () {
          yield* store.add(Rule.parse({ id: "three", tool: "save", maximumUses: 3 }))
          for (let look = 0; look < 5; look++) {
            expect((yield* host.preview("save", { path: "a.txt" })).verdict).toMatchObject({
              decision: "allow",
              rule: "three"
            })
          }
          const calls = Array.from({ length: 6 }, (_, n) => host.call("save", { path: `${n}.txt` }))
          const replies = yield* Effect.all(calls, { concurrency: "unbounded" })
          expect(replies.filter(({ ok }) => ok)).toHaveLength(3)
          expect(questions).toHaveLength(3)
          expect(yield* store.use("three")).toBe(false)
          // Another rule in its place is no way to begin counting anew.
          yield* store.replace("three", Rule.parse({ id: "four", tool: "save", maximumUses: 4 }))
          expect([yield* store.use("four"), yield* store.use("four"), yield* store.use("three")]).toEqual([
            true,
            false,
            false
          ])
          expect(yield* store.use("unknown")).toBe(false)
        }),
      { answer: () => ({ approved: false }) }
    )
  )

  it.live("refuses a rule that can't be used, and keeps the others", () =>
    withHost(({ store }) =>
      Effect.gen(function* () {
        yield* store.add(Rule.parse({ id: "a", tool: "save" }))
        expect((yield* Effect.flip(store.add(Rule.parse({ id: "a", tool: "run" })))).message).toBe(
          "there are two rules a"
        )
        const broken = Rule.parse({ id: "b", tool: "save", pattern: "(" })
        expect((yield* Effect.flip(store.replace("a", broken))).message).toContain("rule b: missing closing )")
        expect(yield* store.replace("none", Rule.parse({ id: "c", tool: "save" }))).toBe(false)
        expect((yield* Effect.flip(store.add(broken))).message).toContain("rule b: missing closing )")
        const rules = yield* store.current
        expect("rules" in rules && rules.rules.map(({ id }) => id)).toEqual(["a"])
      })
    )
  )

  it.effect("takes no answer in time for a no", () =>
    withHost(
      ({ host }) =>
        Effect.gen(function* () {
          const fiber = yield* Effect.forkChild(host.call("save", { path: "a.txt" }), { startImmediately: true })
          yield* TestClock.adjust("2 minutes")
          expect((yield* Fiber.join(fiber)).error).toMatchObject({
            message: "the call was not approved: nobody answered in time",
            details: { by: "nobody" }
          })
        }),
      { answer: () => new Promise(() => {}), options: { timeout: "1 minute" } }
    )
  )

  it.live("approves or refuses everything where it is told to, within the rules", () =>
    Effect.gen(function* () {
      const forbid = Rule.parse({ id: "no", tool: "run", decision: "deny" })
      const allow = Rule.parse({ id: "yes", tool: "run" })
      const all = withHost(
        ({ host, store }) =>
          Effect.gen(function* () {
            yield* store.add(forbid)
            return [(yield* host.call("save", { path: "a" })).ok, (yield* host.call("run", { command: "ls" })).ok]
          }),
        { options: { answers: "all" } }
      )
      const none = withHost(
        ({ host, store }) =>
          Effect.gen(function* () {
            yield* store.add(allow)
            return [(yield* host.call("save", { path: "a" })).ok, (yield* host.call("run", { command: "ls" })).ok]
          }),
        { options: { answers: "none" } }
      )
      expect([yield* all, yield* none]).toEqual([
        [true, false],
        [false, true]
      ])
    })
  )
})

describe("whom a host asks", () => {
  const hostOf = <A>(asker: Layer.Layer<A | Asker>) =>
    Host.layer({ dialect, plugins: [use(definePlugin({ name: "p", version: "1.0.0", tools: [save] }))] }).pipe(
      Layer.provide(policyApprover()),
      Layer.provideMerge(asker),
      Layer.provide(stateRules),
      Layer.provide(Layer.mergeAll(memoryState(), memoryWorkspace(), memoryJournal()))
    )

  it.effect("the caller itself, where it can be asked", () =>
    Effect.gen(function* () {
      const host = yield* Host
      const args = { path: "a.txt" }
      expect((yield* host.call("save", args, { ask: () => Effect.succeed({ approved: true }) })).ok).toBe(true)
      expect((yield* host.call("save", args)).ok).toBe(false)
    }).pipe(Effect.provide(hostOf(askCallerOr(askNobody))))
  )

  it.effect("a gate, and a cancelled call takes its question back", () =>
    Effect.gen(function* () {
      const host = yield* Host
      const gate = yield* ApprovalGate
      const fiber = yield* Effect.forkChild(host.call("save", { path: "a.txt" }), { startImmediately: true })
      yield* Effect.yieldNow
      expect(gate.open().map(({ stepId }) => stepId)).toEqual(["memory-1"])
      yield* Fiber.interrupt(fiber)
      expect(gate.open()).toEqual([])
    }).pipe(Effect.provide(hostOf(askThroughGate)))
  )
})

const workspaceAt = (root: string): Layer.Layer<Workspace> =>
  Layer.effect(
    Workspace,
    Workspace.useSync((service) => ({ ...service, root }))
  ).pipe(Layer.provide(memoryWorkspace({})))

// A host has one approver for its run; a second one with the same state is a later run, or a host of another workspace.
it.effect.each([
  { scope: "run", later: 1, elsewhere: 1 },
  { scope: "workspace", later: 0, elsewhere: 1 },
  { scope: "always", later: 0, elsewhere: 0 }
] as const)("remembers a host for $scope, for every command and no other host", ({ scope, later, elsewhere }) =>
  Effect.gen(function* () {
    const asked: Array<string> = []
    const asker = askCallback(({ facts, offers }) => {
      asked.push(facts.connects ?? "")
      expect(offers).toMatchObject([{ id: "host", rule: { touches: { connects: facts.connects } } }])
      return { approved: true, ...(facts.connects === "a.example:443" && { remember: { offer: "host", scope } }) }
    })
    const state = yield* Layer.build(memoryState())
    const admitted = (root: string, hosts: ReadonlyArray<string>) =>
      Network.use(({ admit }) =>
        Effect.forEach(hosts, (host) => admit({ host, port: 443, command: "npm ci" }), { concurrency: 1 })
      ).pipe(
        Effect.map((admissions) => [admissions.map(({ by }) => by), asked.splice(0)]),
        Effect.provide(
          networkPolicy({ ask: true }).pipe(
            Layer.provide(policyApprover()),
            Layer.provide(Layer.mergeAll(asker, memoryJournal(), workspaceAt(root))),
            Layer.provide(stateRules),
            Layer.provide(Layer.succeedContext(state))
          )
        )
      )
    const rule = expect.stringMatching(/^rule connect-/)
    expect(yield* admitted("/first", ["a.example", "a.example", "b.example"])).toEqual([
      ["person", rule, "person"],
      ["a.example:443", "b.example:443"]
    ])
    expect((yield* admitted("/first", ["a.example"]))[1]).toHaveLength(later)
    expect((yield* admitted("/second", ["a.example"]))[1]).toHaveLength(elsewhere)
  })
)
