import { describe, expect, it } from "@effect/vitest"
import * as Layer from "effect/Layer"
import * as z from "zod"

import { defineDialect, denyAll, type ErrorCode, errorCodes, Host } from "./index.ts"
import { type JournalEvent, memoryJournal, memoryWorkspace } from "./index.ts"
import { definePlugin, defineTool, openHost, toolError, use } from "./promise.ts"

const plain = defineDialect({
  name: "plain",
  symlinks: "inside",
  asks: (risk) => risk !== "read_only",
  errorNames: Object.fromEntries(errorCodes.map((code) => [code, code])) as Record<ErrorCode, string>,
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
      wire: { sum: 3 },
      text: '{\n  "sum": 3\n}',
      writes: [],
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

  it("says why it can't be opened", async () => {
    const missing = definePlugin({
      name: "config",
      version: "1.0.0",
      config: z.strictObject({ url: z.url() }),
      tools: []
    })
    expect(() => use(missing, { url: "nonsense" })).toThrow(
      "plugin config: its configuration does not fit: url: Invalid URL"
    )
  })
})
