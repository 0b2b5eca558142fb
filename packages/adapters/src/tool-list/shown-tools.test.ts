import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { denyAll, Host, memoryJournal, memoryWorkspace } from "@haft/core"
import { definePlugin, defineTool, openHost, type OpenHost, use } from "@haft/core/promise"
import { Client, InMemoryTransport } from "@modelcontextprotocol/client"
import * as Layer from "effect/Layer"
import * as z from "zod"

import { plain } from "../../test/words-host.ts"
import { anthropicTools } from "../anthropic/index.ts"
import { exportTools } from "../index.ts"
import { mcpServer } from "../mcp/index.ts"
import { openaiTools } from "../openai/index.ts"

const read = defineTool({
  name: "read",
  description: "Reads a file.",
  input: z.strictObject({ path: z.string().min(1), lines: z.array(z.number().min(1)).max(9).optional() }),
  output: z.object({ text: z.string() }),
  examples: [{ path: "a.txt" }],
  risk: "read_only",
  execute: async ({ path }) => ({ text: path })
})
const draw = defineTool({
  name: "draw",
  description: "Draws a picture.",
  input: z.strictObject({}),
  output: z.object({}),
  risk: "read_only",
  profile: "all",
  execute: async () => ({})
})

let host: OpenHost
beforeAll(async () => {
  const plugins = [use(definePlugin({ name: "two", version: "1.0.0", tools: [read, draw] }))]
  const services = Layer.mergeAll(memoryWorkspace(), memoryJournal(), denyAll)
  host = await openHost(Host.layer({ dialect: plain, plugins, profile: "coding" }).pipe(Layer.provide(services)))
})
afterAll(() => host.dispose())

const namesOf = (tools: ReadonlyArray<object>) => tools.map((tool) => (tool as { readonly name: string }).name)

describe("tools that a profile defers", () => {
  it("are left out of exports, except haft's own", () => {
    for (const format of ["openai", "anthropic", "gemini", "mcp"] as const) {
      expect(namesOf(exportTools(host.tools, format)), format).toEqual(["read", "find_tools"])
    }
    expect(exportTools(host.tools, "json")).toMatchObject([
      { name: "read" },
      { name: "draw", profile: "all", deferred: true },
      { name: "find_tools" }
    ])
  })

  it("join OpenAI's list once find_tools has found them", async () => {
    const { responses, chat } = openaiTools(host)
    expect(namesOf(responses.tools)).toEqual(["read", "find_tools"])
    await responses.call({ call_id: "c", name: "find_tools", arguments: '{"query":"picture"}' })
    expect(namesOf(responses.tools)).toEqual(["read", "draw", "find_tools"])
    expect(chat.tools.map((tool) => tool.function.name)).toEqual(["read", "draw", "find_tools"])
    expect(namesOf(openaiTools(host).responses.tools)).toEqual(["read", "find_tools"])
  })

  it("join Anthropic's list once find_tools has found them", async () => {
    const tools = anthropicTools(host)
    await tools.call({ id: "t", name: "find_tools", input: { query: 1 } })
    expect(namesOf(tools.tools)).toEqual(["read", "find_tools"])
    await tools.call({ id: "t", name: "find_tools", input: { query: "draw" } })
    expect(namesOf(tools.tools)).toEqual(["read", "draw", "find_tools"])
  })

  it("join the list of an MCP client, which is notified", async () => {
    const [clientSide, serverSide] = InMemoryTransport.createLinkedPair()
    await mcpServer(host, { version: "1" })().connect(serverSide)
    const client = new Client({ name: "test", version: "0" })
    let notified = 0
    client.setNotificationHandler("notifications/tools/list_changed", () => void notified++)
    await client.connect(clientSide)
    try {
      expect(client.getInstructions()).toContain("find_tools finds tools that are not listed: draw.")
      expect(namesOf((await client.listTools()).tools)).toEqual(["read", "find_tools"])
      await client.callTool({ name: "find_tools", arguments: { query: "picture" } })
      await client.callTool({ name: "find_tools", arguments: { query: "picture" } })
      expect(notified).toBe(1)
      expect(namesOf((await client.listTools()).tools)).toEqual(["read", "draw", "find_tools"])
    } finally {
      await client.close()
    }
  })
})

describe("fields of a model API's tools", () => {
  it("let OpenAI search deferred tools, restrict callers and describe replies", () => {
    const { tools } = openaiTools(host, {
      strict: true,
      deferLoading: true,
      outputSchemas: true,
      allowedCallers: ({ name }) => (name === "draw" ? ["programmatic"] : undefined)
    }).responses
    expect(tools).toMatchObject([
      { name: "read", strict: true, output_schema: { properties: { output: { properties: { text: {} } } } } },
      { name: "draw", strict: true, defer_loading: true, allowed_callers: ["programmatic"] }
    ])
    expect(tools).toHaveLength(2)
    expect(tools[0]).not.toHaveProperty("defer_loading")
    expect(tools[0]).not.toHaveProperty("allowed_callers")
  })

  it("give Anthropic strict schemas without bounds, examples, callers, deferral and eager streaming", async () => {
    const made = anthropicTools(host, {
      strict: ({ name }) => name === "read",
      deferLoading: true,
      eagerInputStreaming: ({ name }) => name === "read",
      allowedCallers: () => ["direct"]
    })
    const [strict, deferred] = made.tools
    expect(strict).toMatchObject({ strict: true, eager_input_streaming: true, allowed_callers: ["direct"] })
    expect(strict?.input_schema).toEqual({
      type: "object",
      properties: {
        path: { type: "string" },
        lines: { anyOf: [{ type: "array", items: { type: "number" } }, { type: "null" }] }
      },
      required: ["path", "lines"],
      additionalProperties: false
    })
    expect(deferred).toMatchObject({ name: "draw", defer_loading: true })
    const { is_error } = await made.call({ id: "t", name: "read", input: { path: "a", lines: null } })
    expect(is_error).toBe(false)
    expect(anthropicTools(host, { inputExamples: true }).tools).toMatchObject([
      { name: "read", input_examples: [{ path: "a.txt" }] },
      { name: "find_tools" }
    ])
  })
})
