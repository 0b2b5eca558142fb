import { afterAll, beforeAll, expect, it } from "@effect/vitest"
import { attachBlock, definePlugin, defineTool, denyAll, Host, memoryJournal, memoryWorkspace, use } from "@haft/core"
import { openHost, type OpenHost } from "@haft/core/promise"
import { Client, InMemoryTransport } from "@modelcontextprotocol/client"
import { generateText, stepCountIs } from "ai"
import { MockLanguageModelV4 } from "ai/test"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as z from "zod"

import { plain } from "../test/words-host.ts"
import { aiSdkTools } from "./ai-sdk.ts"
import { anthropicTools } from "./anthropic/index.ts"
import { copilotTools } from "./copilot.ts"
import { genaiTool } from "./google-genai.ts"
import { mcpServer } from "./mcp/index.ts"
import { openaiTools } from "./openai/index.ts"

const [pixels, sound] = ["aVZCT1I=", "SUQz"]

const show = defineTool({
  name: "show",
  description: "Shows something.",
  input: z.strictObject({}),
  output: z.object({ shown: z.boolean() }),
  risk: "read_only",
  execute: () =>
    Effect.as(
      Effect.andThen(
        attachBlock({ type: "image", data: pixels, mimeType: "image/png" }),
        attachBlock({ type: "audio", data: sound, mimeType: "audio/mpeg" })
      ),
      { shown: true }
    ),
  render: () => "two things"
})

let host: OpenHost
beforeAll(async () => {
  const plugins = [use(definePlugin({ name: "show", version: "1.0.0", tools: [show] }))]
  const services = Layer.mergeAll(memoryWorkspace(), memoryJournal(), denyAll)
  host = await openHost(Host.layer({ dialect: plain, plugins }).pipe(Layer.provide(services)))
})
afterAll(() => host.dispose())

const envelope = '{"ok":true,"output":{"shown":true}}'
const noAudio = "[audio/mpeg: this API takes no audio in the result of a tool]"

it("gives OpenAI's Responses API images as input_image, and Chat Completions a note", async () => {
  const { responses, chat } = openaiTools(host)
  expect(await responses.call({ call_id: "c", name: "show", arguments: "{}" })).toEqual({
    type: "function_call_output",
    call_id: "c",
    output: [
      { type: "input_text", text: envelope },
      { type: "input_image", image_url: `data:image/png;base64,${pixels}`, detail: "auto" },
      { type: "input_text", text: noAudio }
    ]
  })
  const call = { id: "c", type: "function" as const, function: { name: "show", arguments: "{}" } }
  const { content } = await chat.call(call)
  expect(content).toBe(`${envelope}\n[image/png: this API takes no image in the result of a tool]\n${noAudio}`)
})

it("gives Anthropic's API images as blocks", async () => {
  expect(await anthropicTools(host).call({ id: "t", name: "show", input: {} })).toEqual({
    type: "tool_result",
    tool_use_id: "t",
    is_error: false,
    content: [
      { type: "text", text: envelope },
      { type: "image", source: { type: "base64", media_type: "image/png", data: pixels } },
      { type: "text", text: noAudio }
    ]
  })
})

it("gives Gemini's API images and sounds as parts of the response", async () => {
  expect(await genaiTool(host).callTool([{ id: "g", name: "show" }])).toEqual([
    {
      functionResponse: {
        id: "g",
        name: "show",
        response: { output: { ok: true, output: { shown: true } } },
        parts: [
          { inlineData: { mimeType: "image/png", data: pixels } },
          { inlineData: { mimeType: "audio/mpeg", data: sound } }
        ]
      }
    }
  ])
})

it("gives a Copilot session images beside the text, and a note about sounds", async () => {
  const [tool] = copilotTools(host)
  expect(await tool?.handler({}, { toolCallId: "t" })).toEqual({
    textResultForLlm: `two things\n${noAudio}`,
    binaryResultsForLlm: [{ type: "image", data: pixels, mimeType: "image/png" }],
    resultType: "success"
  })
})

it("gives MCP clients the text, then images and sounds", async () => {
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair()
  await mcpServer(host, { version: "1" })().connect(serverSide)
  const client = new Client({ name: "test", version: "0" })
  await client.connect(clientSide)
  const { content } = await client.callTool({ name: "show", arguments: {} })
  await client.close()
  expect(content).toEqual([
    { type: "text", text: "two things" },
    { type: "image", data: pixels, mimeType: "image/png" },
    { type: "audio", data: sound, mimeType: "audio/mpeg" }
  ])
})

it("gives models of the AI SDK files", async () => {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } } as never
  const model = new MockLanguageModelV4({
    doGenerate: [
      {
        content: [{ type: "tool-call", toolCallId: "a", toolName: "show", input: "{}" }],
        finishReason: { unified: "tool-calls", raw: "tool-calls" },
        usage,
        warnings: []
      },
      {
        content: [{ type: "text", text: "seen" }],
        finishReason: { unified: "stop", raw: "stop" },
        usage,
        warnings: []
      }
    ]
  })
  await generateText({ model, tools: aiSdkTools(host), prompt: "look", stopWhen: stepCountIs(3) })
  const sent = JSON.stringify(model.doGenerateCalls[1]?.prompt.at(-1))
  expect(sent).toContain('"type":"content"')
  expect(sent).toContain(`"mediaType":"image/png","data":{"type":"data","data":"${pixels}"}`)
})
