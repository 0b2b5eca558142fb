import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as z from "zod"

import { type Answer, Approver, CurrentCall, defineDialect, denyAll, Host } from "./index.ts"
import { type JournalEvent, memoryJournal, memoryWorkspace } from "./index.ts"
import { definePlugin, defineTool, openHost, toolError, use } from "./promise.ts"

const plain = defineDialect({
  name: "plain",
  symlinks: "inside",
  asks: (risk) => risk !== "read_only",
  success: ({ output }) => output,
  failure: ({ errorName, error }) => ({ error: errorName, message: error.message }),
  envelope: (output) => output
})

const aborted: Array<string> = []

const add = defineTool({
  name: "add",
  description: "Adds.",
  input: z.strictObject({ a: z.number(), b: z.number() }),
  output: z.object({ sum: z.number() }),
  risk: "read_only",
  execute: async ({ a, b }) => {
    if (a < 0) throw toolError("invalid_range", "a is negative")
    if (b < 0) throw new Error("a bug")
    return { sum: a + b }
  },
  preview: async ({ a, b }) => `${a} + ${b}`
})

const wait = defineTool({
  name: "wait",
  description: "Waits until it is stopped.",
  input: z.strictObject({}),
  output: z.object({}),
  risk: "read_only",
  execute: (_input, { signal, progress }) =>
    new Promise((_resolve, reject) => {
      progress({ message: "waiting" })
      signal.addEventListener("abort", () => {
        aborted.push("wait")
        reject(new Error("stopped"))
      })
    })
})

const open = (events: Array<JournalEvent> = []) =>
  openHost(
    Host.layer({
      dialect: plain,
      plugins: [use(definePlugin({ name: "sums", version: "1.0.0", tools: [add, wait] }))]
    }).pipe(Layer.provide(Layer.mergeAll(memoryWorkspace(), memoryJournal(events), denyAll)))
  )

describe("a host without Effect", () => {
  it("calls tools made of async functions", async () => {
    await using host = await open()
    expect(host.tools.map(({ name }) => name)).toEqual(["add", "wait"])
    expect(await host.call("add", { a: 1, b: 2 })).toEqual({
      ok: true,
      output: { sum: 3 },
      wire: { sum: 3 },
      text: '{\n  "sum": 3\n}',
      blocks: [{ type: "text", text: '{\n  "sum": 3\n}' }],
      writes: [],
      adjusted: [],
      durationMs: expect.any(Number)
    })
    expect((await host.call("add", { a: -1, b: 2 })).wire).toEqual({ error: "invalid_range", message: "a is negative" })
    expect((await host.call("add", { a: 1, b: -2 })).error?.code).toBe("internal_error")
  })

  it("shows what a call would do", async () => {
    await using host = await open()
    expect(await host.preview("add", { a: 1, b: 2 })).toEqual({
      tool: "add",
      input: { a: 1, b: 2 },
      facts: { reads: [], writes: [], risk: "read_only" },
      asks: false,
      verdict: { decision: "allow", reason: expect.any(String) },
      diff: "1 + 2"
    })
    await expect(host.preview("add", {})).rejects.toThrow("missing parameter 'a'")
  })

  it("makes no call whose signal was aborted before", async () => {
    const events: Array<JournalEvent> = []
    await using host = await open(events)
    const call = host.call("add", { a: 1, b: 2 }, { signal: AbortSignal.abort(new Error("too late")) })
    await expect(call).rejects.toThrow("too late")
    expect(events).toEqual([])
  })

  it("ends a call and what it runs when the signal is aborted, and records it as cancelled", async () => {
    const events: Array<JournalEvent> = []
    await using host = await open(events)
    const controller = new AbortController()
    const reason = new Error("enough")
    const call = host.call("wait", {}, { signal: controller.signal, onProgress: () => controller.abort(reason) })
    await expect(call).rejects.toBe(reason)
    expect(aborted).toEqual(["wait"])
    expect(events.at(-1)).toMatchObject({ type: "tool_call_finished", error: "cancelled" })
  })

  it("rejects calls with an error that has a code once it is closed", async () => {
    const host = await open()
    await host.dispose()
    const closed = { name: "HostClosedError", code: "host_closed", message: "this host is closed: open another one" }
    for (const late of [host.call("add", { a: 1, b: 2 }), host.preview("add", {}), host.decode("add", {})]) {
      await expect(late).rejects.toBeInstanceOf(Error)
      await expect(late).rejects.toMatchObject(closed)
    }
    await expect(host.health()).rejects.toMatchObject(closed)
    await expect(host.dispose()).resolves.toBe(undefined)
  })

  it("rejects a call that runs when the host is closed, and records it as cancelled", async () => {
    const events: Array<JournalEvent> = []
    const host = await open(events)
    const closing = Promise.withResolvers<void>()
    const call = host.call("wait", {}, { onProgress: () => closing.resolve(host.dispose()) })
    await expect(call).rejects.toBeInstanceOf(Error)
    await expect(call).rejects.toMatchObject({
      code: "host_closed",
      message: "the host was closed before the call ended"
    })
    await closing.promise
    expect(events.at(-1)).toMatchObject({ type: "tool_call_finished", error: "cancelled" })
  })

  it.each([
    ["throws", () => Promise.reject(new Error("the window is gone")), "the window is gone"],
    [
      "throws at once",
      () => {
        throw new Error("no window")
      },
      "no window"
    ],
    ["answers nothing", () => Promise.resolve(undefined as unknown as Answer), "the answer has no `approved"]
  ])("does not run a call whose `ask` %s: it was not approved", async (_, ask, reason) => {
    const events: Array<JournalEvent> = []
    const askCaller = Layer.succeed(Approver, {
      judge: () => Effect.succeed({ decision: "ask", reason: "always" }),
      ask: (question) => CurrentCall.use((call) => call.ask?.(question) ?? Effect.succeed({ approved: false }))
    })
    const plugin = use(definePlugin({ name: "sums", version: "1.0.0", tools: [add] }))
    await using host = await openHost(
      Host.layer({ dialect: plain, plugins: [plugin] }).pipe(
        Layer.provide(Layer.mergeAll(memoryWorkspace(), memoryJournal(events), askCaller))
      )
    )
    const { error } = await host.call("add", { a: 1, b: 2 }, { ask })
    expect(error).toMatchObject({ code: "approval_denied", details: { by: "nobody" } })
    expect(error?.message).toContain(`asking for approval failed: ${reason}`)
    expect(events.find(({ type }) => type === "approval_decided")).toMatchObject({ decision: "deny", by: "nobody" })
  })

  it("does not run a call whose policy fails: it was not approved", async () => {
    const broken = Layer.succeed(Approver, {
      judge: () => Effect.die(new Error("no rules")),
      ask: () => Effect.succeed({ approved: true })
    })
    const plugin = use(definePlugin({ name: "sums", version: "1.0.0", tools: [add] }))
    await using host = await openHost(
      Host.layer({ dialect: plain, plugins: [plugin] }).pipe(
        Layer.provide(Layer.mergeAll(memoryWorkspace(), memoryJournal(), broken))
      )
    )
    expect((await host.call("add", { a: 1, b: 2 })).error).toMatchObject({
      code: "approval_denied",
      message: "the call was not approved: the approval policy failed: no rules",
      details: { by: "policy" }
    })
  })

  it("says why it can't be opened", async () => {
    const missing = definePlugin({
      name: "config",
      version: "1.0.0",
      config: z.strictObject({ url: z.url() }),
      tools: []
    })
    expect(() => use(missing, { url: "nonsense" })).toThrow(
      "plugin config: its configuration does not fit: url: expected a text in the format"
    )
  })
})
