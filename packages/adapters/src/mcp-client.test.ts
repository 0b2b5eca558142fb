import { afterEach, beforeEach, expect, it } from "@effect/vitest"
import { Host, memoryJournal, memoryWorkspace, type JournalEvent } from "@haft/core"
import { openHost, type OpenHost } from "@haft/core/promise"
import { InMemoryTransport } from "@modelcontextprotocol/client"
import * as Layer from "effect/Layer"

import { askTheCaller, openWordsHost, plain } from "../test/words-host.ts"
import { mcpPlugin } from "./mcp-client.ts"
import { mcpServer } from "./mcp/index.ts"

let remote: OpenHost
let remoteEvents: Array<JournalEvent>
let local: OpenHost
const localEvents: Array<JournalEvent> = []

beforeEach(async () => {
  const opened = await openWordsHost()
  remote = opened.host
  remoteEvents = opened.events
  localEvents.length = 0
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair()
  await mcpServer(remote, { version: "1" })().connect(serverSide)
  const plugin = await mcpPlugin({ name: "far", transport: clientSide, trustHints: true })
  local = await openHost(
    Host.layer({ dialect: plain, plugins: [plugin] }).pipe(
      Layer.provide(Layer.mergeAll(memoryWorkspace(), memoryJournal(localEvents), askTheCaller))
    )
  )
})
afterEach(async () => {
  await local.dispose()
  await remote.dispose()
})

it("brings another server's tools in, with their schemas and what they say about themselves", () => {
  expect(local.tools.map(({ name, risk, plugin }) => ({ name, risk, plugin }))).toEqual([
    { name: "far_word_shout", risk: "read_only", plugin: "mcp:far" },
    { name: "far_save", risk: "dangerous", plugin: "mcp:far" },
    { name: "far_steps", risk: "read_only", plugin: "mcp:far" }
  ])
  expect(local.tools[0]?.inputSchema).toMatchObject({
    properties: { word: { type: "string", description: "What to say" } },
    required: ["word"],
    additionalProperties: false
  })
})

it("sends calls down the road here, approved and on record, before they go out", async () => {
  expect(await local.call("far_word_shout", { word: "hi" })).toMatchObject({
    ok: true,
    text: "HI!",
    wire: { output: { structured: { ok: true, output: { said: "HI" } } } }
  })
  expect(await local.call("far_save", { path: "a", content: "" })).toMatchObject({ error: { code: "approval_denied" } })
  expect(await local.call("far_word_shout", { word: 1 })).toMatchObject({ error: { code: "invalid_params" } })
  expect(localEvents.filter(({ type }) => type === "tool_call_finished")).toHaveLength(3)
  expect(remoteEvents.filter(({ type }) => type === "tool_call_finished")).toHaveLength(1)
})

it("reports what fails there as a failure here, and a server that is gone as such", async () => {
  const ask = async () => ({ approved: true })
  const reply = await local.call("far_save", { path: "a", content: "" }, { ask })
  expect(reply).toMatchObject({ ok: false, error: { code: "command_failed", details: { server: "far" } } })
  expect(reply.error?.message).toContain("approval")
})

it("passes progress on and interrupts what runs there", async () => {
  const controller = new AbortController()
  const call = local.call(
    "far_steps",
    { wait: true },
    { signal: controller.signal, onProgress: () => controller.abort(new Error("enough")) }
  )
  await expect(call).rejects.toThrow("enough")
  await expect.poll(() => remoteEvents.at(-1)).toMatchObject({ error: "cancelled" })
})
