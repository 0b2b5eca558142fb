import { PassThrough } from "node:stream"

import { describe, expect, it } from "@effect/vitest"
import type { Answer } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"

import {
  ApprovalGate,
  type ApprovalGateService,
  Asker,
  askCallback,
  askInTerminal,
  askNobody,
  askThroughGate,
  type GateChange,
  GateResponse,
  listedRequest,
  type Question,
  Rule,
  type TerminalOptions
} from "../index.ts"
import { askThroughLimitedGate } from "./gate.ts"

const question = (more: Partial<Question> = {}): Question => ({
  call: { id: "step-1", step: 1, tool: "create_file", dialect: "haft", startedAt: 0 },
  input: { path: "a.txt", content: "x" },
  asks: true,
  facts: { risk: "safe_write", reads: [], writes: [{ path: "a.txt", exists: false, isProtected: false }] },
  reason: "create_file writes new files",
  state: new Map(),
  workspace: "/w",
  binding: "bound",
  offers: [
    { id: "files", label: "changes of a.txt", rule: Rule.parse({ id: "w", touches: { writes: "a.txt" } }) },
    { id: "exact", label: "exactly these arguments", rule: Rule.parse({ id: "r", exactly: { path: "a.txt" } }) }
  ],
  ...more
})

describe("asking at a terminal", () => {
  const converse = (lines: ReadonlyArray<string>, asked = question(), more: Partial<TerminalOptions> = {}) =>
    Effect.gen(function* () {
      const input = new PassThrough()
      const output = new PassThrough()
      let printed = ""
      output.setEncoding("utf8").on("data", (text: string) => (printed += text))
      const asker = yield* Effect.provide(Asker, askInTerminal({ input, output, interactive: true, ...more }))
      const fiber = yield* Effect.forkChild(asker.ask(asked), { startImmediately: true })
      for (const line of lines) input.write(`${line}\n`)
      input.end()
      const answer = yield* Fiber.join(fiber)
      return { answer, printed }
    })

  it.live.each<[ReadonlyArray<string>, Answer]>([
    [["y"], { approved: true }],
    [["YES"], { approved: true }],
    [["n"], { approved: false, reason: "the person said no" }],
    [["no"], { approved: false, reason: "the person said no" }],
    [["", "what", "y"], { approved: true }],
    [[], { approved: false, unanswered: true, reason: "the terminal was closed" }],
    [["yy"], { approved: false, unanswered: true, reason: "the terminal was closed" }],
    [["n: use b.txt"], { approved: false, reason: "the person said no", comment: "use b.txt" }],
    [["Yes, but only once"], { approved: true, comment: "but only once" }],
    [["always", "1r", "y"], { approved: true, remember: { offer: "files", scope: "run" } }],
    [["always", "2a", "y"], { approved: true, remember: { offer: "exact", scope: "always" } }],
    [["a", "2", "yes"], { approved: true, remember: { offer: "exact", scope: "workspace" } }],
    [["a", "y"], { approved: true, remember: { offer: "exact", scope: "workspace" } }],
    [["a", "1r", "1", "y"], { approved: true, remember: { offer: "files", scope: "workspace" } }],
    [["a", "3r", "n"], { approved: false, reason: "the person said no" }],
    [["a", "what", "n"], { approved: false, reason: "the person said no" }],
    [["a", "1", "n", "n"], { approved: false, reason: "the person said no" }],
    [["always"], { approved: false, unanswered: true, reason: "the terminal was closed" }],
    [["edit", '{"path":"b.txt"}'], { approved: true, modifiedArgs: { path: "b.txt" } }],
    [["e", "nonsense", "[1]", "null", '{"path":"b"}'], { approved: true, modifiedArgs: { path: "b" } }],
    [["e", "", "n"], { approved: false, reason: "the person said no" }],
    [["e"], { approved: false, unanswered: true, reason: "the terminal was closed" }]
  ])("%j", ([lines, expected]) =>
    Effect.gen(function* () {
      expect((yield* converse(lines)).answer).toEqual(expected)
    })
  )

  it.live.each([
    ["1w 8h", { offer: "files", scope: "workspace" }, 8],
    ["2r 30d", { offer: "exact", scope: "run" }, 30 * 24]
  ] as const)("stores a rule that expires with %s", ([choice, remember, hours]) =>
    Effect.gen(function* () {
      const { answer, printed } = yield* converse(["always", choice, "y"])
      expect(answer).toMatchObject({ approved: true, remember })
      const expires = answer.remember?.expires ?? ""
      expect(Math.abs(Date.parse(expires) - Date.now() - hours * 3_600_000)).toBeLessThan(600_000)
      expect(printed).toContain(`, until ${expires}:`)
    })
  )

  it.live("shows the rule before it is stored", () =>
    Effect.gen(function* () {
      const { printed } = yield* converse(["always", "2r", "y"])
      expect(printed).toContain("1w 30d for some hours or days:\n  1) changes of a.txt\n  2) exactly these arguments\n")
      expect(printed).toContain('This rule would be stored for this run:\n{\n  "id": "r",')
      expect(printed.trimEnd().endsWith("Store it? (y/n):")).toBe(true)
    })
  )

  it.live("does not take always where it is not on offer, and says why", () =>
    Effect.gen(function* () {
      const { answer, printed } = yield* converse(
        ["always", "n"],
        question({ offers: [], whyNoOffer: "sudo is a wrapper" })
      )
      expect(answer.approved).toBe(false)
      expect(printed).toContain("(always is not on offer: sudo is a wrapper)\nApprove? (y/n/edit): ")
    })
  )

  it.live("shows the diff in color, page by page", () =>
    Effect.gen(function* () {
      const preview = ["@@ -1 +1 @@", "-old", ...Array.from({ length: 30 }, (_, line) => `+line ${line}`)].join("\n")
      const output = { color: true }
      const whole = yield* converse(["", "y"], question({ preview }), output)
      expect(whole.printed).toContain("\u001B[31m-old\u001B[39m\n\u001B[32m+line 0\u001B[39m")
      expect(whole.printed).toContain("-- 12 more lines; Enter goes on, s skips to the question -- ")
      expect(whole.printed).toContain("+line 29")
      const skipped = yield* converse(["s", "y"], question({ preview }), { color: false })
      expect(skipped.printed).not.toContain("line 29")
      expect(skipped.printed).not.toContain("\u001B")
      expect(skipped.answer).toEqual({ approved: true })
    })
  )

  it.live("is a no where nobody sits", () =>
    Effect.gen(function* () {
      const streams = { input: new PassThrough(), output: new PassThrough() }
      const asker = yield* Effect.provide(Asker, askInTerminal(streams))
      expect(yield* asker.ask(question())).toEqual({
        approved: false,
        unanswered: true,
        reason: "there is no terminal to ask at; allow the call by a rule, or approve everything explicitly"
      })
    })
  )

  it.live("asks one question after the other, and a line typed too early answers nothing", () =>
    Effect.gen(function* () {
      const input = new PassThrough()
      const output = new PassThrough()
      let printed = ""
      output.setEncoding("utf8").on("data", (text: string) => (printed += text))
      const asker = yield* Effect.provide(Asker, askInTerminal({ input, output, interactive: true }))
      const first = yield* Effect.forkChild(asker.ask(question()), { startImmediately: true })
      const second = yield* Effect.forkChild(asker.ask(question()), { startImmediately: true })
      input.write("y\ny\n")
      expect(yield* Fiber.join(first)).toEqual({ approved: true })
      yield* Effect.sleep(20)
      expect(printed.match(/Approve\?/g)).toHaveLength(2)
      input.write("n\n")
      expect(yield* Fiber.join(second)).toEqual({ approved: false, reason: "the person said no" })
    })
  )

  it.live("takes nothing that was typed before the question was there", () =>
    Effect.gen(function* () {
      const input = Object.assign(new PassThrough(), { isTTY: true })
      const output = Object.assign(new PassThrough().setEncoding("utf8"), { isTTY: true, rows: 40 })
      const shown = new Promise((resolve) =>
        output.on("data", (text: string) => text.startsWith("Approve?") && resolve(text))
      )
      const asker = yield* Effect.provide(Asker, askInTerminal({ input, output }))
      input.write("y\n")
      const fiber = yield* Effect.forkChild(asker.ask(question()), { startImmediately: true })
      yield* Effect.promise(() => shown)
      input.write("n\n")
      expect(yield* Fiber.join(fiber)).toEqual({ approved: false, reason: "the person said no" })
    })
  )

  it.live("gives the terminal back when nobody waits for the answer any more", () =>
    Effect.gen(function* () {
      const input = new PassThrough()
      const asker = yield* Effect.provide(
        Asker,
        askInTerminal({ input, output: new PassThrough().resume(), interactive: true })
      )
      const fiber = yield* Effect.forkChild(asker.ask(question()), { startImmediately: true })
      yield* Fiber.interrupt(fiber)
      const next = yield* Effect.forkChild(asker.ask(question()), { startImmediately: true })
      input.write("y\n")
      expect(yield* Fiber.join(next)).toEqual({ approved: true })
    })
  )

  it.live("is a no when the terminal breaks", () =>
    Effect.gen(function* () {
      const input = new PassThrough()
      const asker = yield* Effect.provide(
        Asker,
        askInTerminal({ input, output: new PassThrough().resume(), interactive: true })
      )
      const fiber = yield* Effect.forkChild(asker.ask(question()), { startImmediately: true })
      input.destroy(new Error("hung up"))
      expect(yield* Fiber.join(fiber)).toEqual({ approved: false, unanswered: true, reason: "the terminal was closed" })
    })
  )
})

describe("a gate with limits", () => {
  it.effect("refuses a question beyond the count or the size, and takes one again when another is answered", () =>
    Effect.gen(function* () {
      const gate = yield* ApprovalGate
      const { ask } = yield* Asker
      const large = question({ input: { path: "a.txt", content: "x".repeat(600) } })
      yield* Effect.forkChild(ask(large), { startImmediately: true })
      expect(yield* ask(large)).toMatchObject({
        approved: false,
        unanswered: true,
        reason: expect.stringContaining("1 questions wait")
      })
      yield* Effect.forkChild(ask(question()), { startImmediately: true })
      expect((yield* ask(question())).reason).toContain("2 questions wait")
      gate.answer(gate.open()[0]?.id ?? "", { approved: true })
      yield* Effect.forkChild(ask(large), { startImmediately: true })
      expect(gate.open()).toHaveLength(2)
    }).pipe(Effect.provide(askThroughLimitedGate({ questions: 2, perCaller: 2, characters: 1_000 })))
  )

  it.effect("refuses a caller who has too many questions open, and asks those of others", () =>
    Effect.gen(function* () {
      const { ask } = yield* Asker
      const by = (name: string) => question({ call: { ...question().call, caller: { role: "agent", name } } })
      yield* Effect.forkChild(ask(by("one")), { startImmediately: true })
      expect((yield* ask(by("one"))).reason).toContain("1 questions of this caller wait")
      yield* Effect.forkChild(ask(by("two")), { startImmediately: true })
      expect((yield* ApprovalGate).open()).toHaveLength(2)
    }).pipe(Effect.provide(askThroughLimitedGate({ questions: 10, perCaller: 1, characters: 1_000 })))
  )

  it.effect("lists a large request without its bodies", () =>
    Effect.gen(function* () {
      const gate = yield* ApprovalGate
      const { ask } = yield* Asker
      const input = { path: "a.txt", content: "x".repeat(1_000_000) }
      yield* Effect.forkChild(ask(question({ input, preview: "y".repeat(1_000_000) })), { startImmediately: true })
      const [listed] = gate.open().map(listedRequest)
      expect(JSON.stringify(listed).length).toBeLessThan(2_000)
      expect(listed).toMatchObject({ isWhole: false, tool: "create_file", description: { filesAffected: ["a.txt"] } })
      expect(listed).not.toHaveProperty("args")
    }).pipe(Effect.provide(askThroughGate))
  )
})

describe("asking through a gate", () => {
  const withGate = (
    use: (gate: ApprovalGateService, ask: (asked?: Question) => Effect.Effect<Answer>) => Effect.Effect<void>
  ) =>
    Effect.gen(function* () {
      const gate = yield* ApprovalGate
      const asker = yield* Asker
      yield* use(gate, (asked = question()) => asker.ask(asked))
    }).pipe(Effect.provide(askThroughGate))

  it.effect("shows the contract's request and takes its response", () =>
    withGate((gate, ask) =>
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(ask(question({ preview: "+x" })), { startImmediately: true })
        const [open] = gate.open()
        expect(open).toMatchObject({
          stepId: "step-1",
          tool: "create_file",
          args: { path: "a.txt", content: "x" },
          reason: "create_file writes new files",
          diff: "+x",
          binding: "bound",
          offers: [{ id: "files" }, { id: "exact", rule: { id: "r" } }],
          description: { filesAffected: ["a.txt"] }
        })
        const answer = {
          approved: true,
          modifiedArgs: { path: "b" },
          remember: { offer: "files", scope: "run" }
        } as const
        expect(gate.answer(open?.id ?? "", { ...answer, reason: "careful" })).toBe("accepted")
        expect(yield* Fiber.join(fiber)).toEqual({ ...answer, reason: "careful", comment: "careful" })
        expect(gate.open()).toEqual([])
      })
    )
  )

  it.effect("keeps several open, and answers each by its own name, once", () =>
    withGate((gate, ask) =>
      Effect.gen(function* () {
        const one = yield* Effect.forkChild(ask(), { startImmediately: true })
        const other = yield* Effect.forkChild(ask(), { startImmediately: true })
        const [first, second] = gate.open().map(({ id }) => id)
        expect(gate.answer(second ?? "", { approved: true })).toBe("accepted")
        expect(gate.answer(second ?? "", { approved: false })).toBe("gone")
        expect(gate.answer("unknown", { approved: true })).toBe("gone")
        expect(gate.answer(first ?? "", { approved: false })).toBe("accepted")
        expect([yield* Fiber.join(one), yield* Fiber.join(other)]).toEqual([{ approved: false }, { approved: true }])
      })
    )
  )

  it.effect("refuses an answer that was meant for another request", () =>
    withGate((gate, ask) =>
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(ask(), { startImmediately: true })
        const id = gate.open()[0]?.id ?? ""
        expect(gate.answer(id, { approved: true, binding: "stale" })).toBe("other_request")
        expect(gate.answer(id, { approved: true, binding: "bound" })).toBe("accepted")
        expect(yield* Fiber.join(fiber)).toEqual({ approved: true })
      })
    )
  )

  it.effect("takes a question back when nobody waits any more, and tells its listeners", () =>
    withGate((gate, ask) =>
      Effect.gen(function* () {
        const changes: Array<GateChange["type"]> = []
        const stop = gate.subscribe(({ type }) => changes.push(type))
        const fiber = yield* Effect.forkChild(ask(), { startImmediately: true })
        const id = gate.open()[0]?.id ?? ""
        yield* Fiber.interrupt(fiber)
        expect(gate.open()).toEqual([])
        expect(gate.answer(id, { approved: true })).toBe("gone")
        stop()
        yield* Effect.forkChild(ask(), { startImmediately: true })
        expect(changes).toEqual(["opened", "closed"])
      })
    )
  )

  it.effect("closes a question that nobody will answer, with the reason", () =>
    withGate((gate, ask) =>
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(ask(), { startImmediately: true })
        const id = gate.open()[0]?.id ?? ""
        gate.giveUp(id, "the server stopped")
        gate.giveUp(id, "twice")
        expect(yield* Fiber.join(fiber)).toEqual({ approved: false, unanswered: true, reason: "the server stopped" })
        expect([gate.open(), gate.answer(id, { approved: true })]).toEqual([[], "gone"])
      })
    )
  )

  it.effect("answers no to all that is open when the host ends", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const services = yield* Layer.buildWithScope(askThroughGate, scope)
      const fiber = yield* Effect.forkChild(Asker.use(({ ask }) => ask(question())).pipe(Effect.provide(services)), {
        startImmediately: true
      })
      yield* Scope.close(scope, Exit.void)
      expect(yield* Fiber.join(fiber)).toEqual({ approved: false, unanswered: true, reason: "the host ended" })
    })
  )

  it("accepts the contract's response and nothing beside it", () => {
    expect(GateResponse.safeParse({ approved: true, modifiedArgs: { a: 1 } }).success).toBe(true)
    expect(GateResponse.safeParse({ approved: "yes" }).success).toBe(false)
    expect(GateResponse.safeParse({ approved: true, force: true }).success).toBe(false)
  })
})

describe("asking a callback", () => {
  it.live("passes question and description on, and the answer back", () =>
    Effect.gen(function* () {
      const asker = yield* Effect.provide(
        Asker,
        askCallback(async (asked, { description }) => ({
          approved: asked.binding === "bound",
          reason: description.tool
        }))
      )
      expect(yield* asker.ask(question())).toEqual({ approved: true, reason: "create_file" })
    })
  )

  it.live.each(["throws", "rejects"])("is a no when it %s", (how) =>
    Effect.gen(function* () {
      const fails = () => {
        if (how === "throws") throw new Error("broken")
        return Promise.reject(new Error("broken"))
      }
      const asker = yield* Effect.provide(Asker, askCallback(fails))
      expect(yield* asker.ask(question())).toEqual({
        approved: false,
        unanswered: true,
        reason: "asking failed: broken"
      })
    })
  )

  it.live("is told when nobody waits for the answer any more", () =>
    Effect.gen(function* () {
      const signals: Array<AbortSignal> = []
      const asker = yield* Effect.provide(
        Asker,
        askCallback((_question, { signal }) => {
          signals.push(signal)
          return new Promise(() => {})
        })
      )
      const fiber = yield* Effect.forkChild(asker.ask(question()), { startImmediately: true })
      yield* Fiber.interrupt(fiber)
      expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    })
  )

  it.effect("is answered no where nobody is there", () =>
    Effect.gen(function* () {
      const asker = yield* Effect.provide(Asker, askNobody)
      expect((yield* asker.ask(question())).approved).toBe(false)
    })
  )
})
