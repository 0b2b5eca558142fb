import Anthropic from "@anthropic-ai/sdk"
import { afterEach, beforeEach, describe, expect, it } from "@effect/vitest"
import { Host, type JournalEvent } from "@haft/core"
import type { OpenHost } from "@haft/core/promise"
import { generateText, type ModelMessage, stepCountIs, streamText } from "ai"
import { MockLanguageModelV4, simulateReadableStream } from "ai/test"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import OpenAI from "openai"

import { openWordsHost, wordsHost } from "../test/words-host.ts"
import { type AiSdkApproval, aiSdkApproval, aiSdkTools } from "./ai-sdk.ts"
import { anthropicTools } from "./anthropic/index.ts"
import { effectToolkit } from "./effect-ai.ts"
import { openaiTools } from "./openai/index.ts"

let host: OpenHost
let events: Array<JournalEvent>
beforeEach(async () => {
  const opened = await openWordsHost()
  host = opened.host
  events = opened.events
})
afterEach(() => host.dispose())

// A model with scripted answers, which keeps what it was sent.
const scripted = (answers: ReadonlyArray<object>) => {
  const sent: Array<Record<string, unknown>> = []
  const fetch = async (_url: unknown, init?: { body?: unknown }): Promise<Response> => {
    sent.push(JSON.parse(String(init?.body)) as Record<string, unknown>)
    return Response.json(answers[sent.length - 1])
  }
  return { fetch, sent }
}

describe("OpenAI", () => {
  it("runs a Responses loop, with legal names and the envelope as output", async () => {
    const { tools, call } = openaiTools(host).responses
    const { fetch, sent } = scripted([
      { output: [{ type: "function_call", call_id: "c1", name: "word_shout", arguments: '{"word":"hi"}' }] },
      { output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "done" }] }] }
    ])
    const client = new OpenAI({ apiKey: "none", fetch })
    const first = await client.responses.create({ model: "scripted", input: "say hi", tools })
    const item = first.output[0]
    if (item?.type !== "function_call") throw new Error("no function call")
    const output = await call(item)
    expect(events.at(-1)).toMatchObject({ request_id: "c1" })
    expect(output).toEqual({
      type: "function_call_output",
      call_id: "c1",
      output: '{"ok":true,"output":{"said":"HI"}}'
    })
    await client.responses.create({ model: "scripted", input: [item, output], tools })
    expect(sent[0]?.["tools"]).toMatchObject([
      { type: "function", name: "word_shout", strict: false },
      { name: "save" },
      { name: "steps" }
    ])
    expect(sent[1]?.["input"]).toMatchObject([{ call_id: "c1" }, output])
  })

  it.each([
    ["an object", { word: "hi" }, { ok: true, output: { said: "HI" } }],
    ["nothing", null, { ok: false, error: "invalid_params" }],
    ["a list", "[1]", { ok: false, error: "invalid_params" }],
    ["half of it", '{"word":"h', { ok: false, error: "invalid_params" }]
  ])("answers a call whose arguments are %s, and has it on record", async (_, written, expected) => {
    const { call } = openaiTools(host, { strict: true }).responses
    const answer = await call({ call_id: "c", name: "word_shout", arguments: written as string })
    expect(JSON.parse(answer.output as string)).toMatchObject(expected)
    expect(events.at(-1)).toMatchObject({ type: "tool_call_finished", tool: "word.shout" })
  })

  it("answers a call of a tool that nobody has", async () => {
    const answer = await openaiTools(host).responses.call({ call_id: "c", name: "nope", arguments: "{}" })
    expect(JSON.parse(answer.output as string)).toMatchObject({ ok: false, error: "unknown_tool" })
  })

  it("runs a Chat Completions call, and refuses arguments that are not JSON on record", async () => {
    const { tools, call } = openaiTools(host, { content: ({ text }) => text }).chat
    expect(tools[0]).toMatchObject({ type: "function", function: { name: "word_shout" } })
    const toolCall = (written: string) =>
      ({ id: "c1", type: "function", function: { name: "word_shout", arguments: written } }) as const
    expect(await call(toolCall('{"word":"hi"}'))).toEqual({ role: "tool", tool_call_id: "c1", content: "HI!" })
    expect(events.at(-1)).toMatchObject({ request_id: "c1" })
    expect((await call(toolCall("{word: hi"))).content).toContain("must be an object")
    expect(events.at(-1)).toMatchObject({ type: "tool_call_finished", error: "invalid_params" })
  })

  it("keeps the model to the schema in strict mode, where null means left out", async () => {
    const { tools, call } = openaiTools(host, { strict: true }).responses
    expect(tools[2]).toMatchObject({
      strict: true,
      parameters: {
        properties: { wait: { anyOf: [{ type: "boolean" }, { type: "null" }] } },
        required: ["wait"],
        additionalProperties: false
      }
    })
    const { output } = await call({ call_id: "c", name: "steps", arguments: '{"wait":null}' })
    expect(output).toBe('{"ok":true,"output":{"counted":2}}')
  })
})

it("runs an Anthropic tool use, and marks failures", async () => {
  const { tools, call } = anthropicTools(host)
  const { fetch, sent } = scripted([
    { content: [{ type: "tool_use", id: "t1", name: "word_shout", input: { word: "hi" } }], stop_reason: "tool_use" }
  ])
  const client = new Anthropic({ apiKey: "none", fetch })
  const message = await client.messages.create({
    model: "scripted",
    max_tokens: 100,
    messages: [{ role: "user", content: "say hi" }],
    tools
  })
  const block = message.content[0]
  if (block?.type !== "tool_use") throw new Error("no tool use")
  expect(await call(block)).toEqual({
    type: "tool_result",
    tool_use_id: "t1",
    content: '{"ok":true,"output":{"said":"HI"}}',
    is_error: false
  })
  expect(events.at(-1)).toMatchObject({ request_id: "t1" })
  expect(await call({ ...block, input: {} })).toMatchObject({ is_error: true })
  expect(sent[0]?.["tools"]).toMatchObject([{ name: "word_shout", input_schema: { type: "object" } }, {}, {}])
})

it("runs inside the AI SDK's own loop, asking where it must", async () => {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
  const turns = [
    [{ type: "tool-call", toolCallId: "1", toolName: "word_shout", input: '{"word":"hi"}' }],
    [{ type: "tool-call", toolCallId: "2", toolName: "save", input: '{"path":"a","content":"x"}' }],
    [{ type: "text", text: "done" }]
  ]
  let turn = 0
  const model = new MockLanguageModelV4({
    doGenerate: (async () => {
      const content = turns[turn++]
      return { content, finishReason: { unified: turn < 3 ? "tool-calls" : "stop" }, usage, warnings: [] }
    }) as never
  })
  const asked: Array<string> = []
  const { text, steps } = await generateText({
    model,
    prompt: "say hi, then save",
    stopWhen: stepCountIs(5),
    tools: aiSdkTools(host, {
      ask: async ({ call }) => {
        asked.push(call.tool)
        return { approved: true }
      }
    })
  })
  expect(text).toBe("done")
  expect(asked).toEqual(["save"])
  const started = events.filter(({ type }) => type === "tool_call_started")
  expect(started.map(({ request_id }) => request_id)).toEqual(["1", "2"])
  expect(steps[0]?.toolResults[0]?.output).toMatchObject({ ok: true, wire: { output: { said: "HI" } } })
  expect(JSON.stringify(model.doGenerateCalls[1]?.prompt)).toContain('"type":"json","value":{"ok":true')
})

it("hands progress to the AI SDK as preliminary results, and the reply as the final one", async () => {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
  const chunks = [
    { type: "stream-start", warnings: [] },
    { type: "tool-call", toolCallId: "1", toolName: "steps", input: "{}" },
    { type: "finish", finishReason: { unified: "tool-calls" }, usage }
  ]
  const model = new MockLanguageModelV4({
    doStream: (async () => ({ stream: simulateReadableStream({ chunks }) })) as never
  })
  const tools = aiSdkTools(host, { preliminary: true })
  expect(tools["steps"]?.outputSchema).toBeDefined()
  const results: Array<object> = []
  for await (const part of streamText({ model, prompt: "go", tools }).fullStream) {
    if (part.type === "tool-result") results.push(part)
  }
  expect(results).toMatchObject([
    { preliminary: true, output: { progress: { message: "one" } } },
    { preliminary: true, output: { progress: { message: "two" } } },
    { preliminary: true, output: { ok: true } },
    { output: { ok: true, wire: { output: { counted: 2 } } } }
  ])
})

describe("the AI SDK's approval", () => {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
  const saying = (turns: ReadonlyArray<ReadonlyArray<object>>) => {
    const left = [...turns]
    return new MockLanguageModelV4({
      doGenerate: (async () => {
        const content = left.shift() ?? [{ type: "text", text: "done" }]
        return { content, finishReason: { unified: left.length > 0 ? "tool-calls" : "stop" }, usage, warnings: [] }
      }) as never
    })
  }
  const save = { type: "tool-call", toolCallId: "s1", toolName: "save", input: '{"path":"a","content":"x"}' }

  /** One turn in which the model saves a file, up to the approval request. */
  const asked = async (agent: AiSdkApproval, calls: ReadonlyArray<object> = [save]) => {
    const messages: Array<ModelMessage> = [{ role: "user", content: "save" }]
    const { content, response } = await generateText({ model: saying([calls]), messages, ...agent })
    const requests = content.filter((part) => part.type === "tool-approval-request")
    return { requests, messages: [...messages, ...response.messages] }
  }
  const answered = async (
    agent: AiSdkApproval,
    { requests, messages }: Awaited<ReturnType<typeof asked>>,
    approved: boolean
  ) => {
    const answers = requests.map(
      ({ approvalId }) => ({ type: "tool-approval-response", approvalId, approved }) as const
    )
    const model = saying([])
    await generateText({ model, messages: [...messages, { role: "tool", content: answers }], ...agent })
    return JSON.stringify(model.doGenerateCalls[0]?.prompt)
  }
  const ended = () => events.filter(({ type }) => type === "tool_call_finished")

  it("asks through the SDK where the policy asks, with the reason, and runs what was approved", async () => {
    const agent = aiSdkApproval(host)
    const question = await asked(agent)
    expect(question.requests).toMatchObject([{ toolCall: { toolCallId: "s1" } }])
    expect(ended()).toEqual([])
    expect(await answered(agent, question, true)).toContain('"ok":true')
    expect(ended()).toMatchObject([{ request_id: "s1", status: "success", approval: { by: "person" } }])
  })

  it("runs nothing where the person says no", async () => {
    const agent = aiSdkApproval(host)
    await answered(agent, await asked(agent), false)
    expect(ended()).toEqual([])
  })

  it("lets calls through that the policy allows or refuses, for the host to record", async () => {
    const calls = [
      { type: "tool-call", toolCallId: "w1", toolName: "word_shout", input: '{"word":"hi"}' },
      { type: "tool-call", toolCallId: "w2", toolName: "word_shout", input: '{"wrod":"hi"}' }
    ]
    const { requests } = await asked(aiSdkApproval(host), calls)
    expect(requests).toEqual([])
    expect(ended()).toMatchObject([{ request_id: "w1" }, { request_id: "w2", error: "invalid_params" }])
  })

  it("refuses an approval when what the call touches has changed since", async () => {
    const agent = aiSdkApproval(host)
    const question = await asked(agent)
    await host.call("save", { path: "a", content: "mine" }, { ask: async () => ({ approved: true }) })
    expect(await answered(agent, question, true)).toContain("approval_denied")
    expect(ended().at(-1)).toMatchObject({ request_id: "s1", error: "approval_denied" })
  })

  it("leaves an approval from another process to `ask`", async () => {
    const question = await asked(aiSdkApproval(host))
    expect(await answered(aiSdkApproval(host), question, true)).toContain("approval_denied")
    const trusting = aiSdkApproval(host, { ask: async () => ({ approved: true }) })
    expect(await answered(trusting, question, true)).toContain('"ok":true')
  })
})

it.effect("is a toolkit of effect/ai", () =>
  Effect.gen(function* () {
    const { toolkit, layer } = effectToolkit(yield* Host)
    const handle = Effect.gen(function* () {
      const kit = yield* toolkit
      return yield* Stream.runCollect(yield* kit.handle("word_shout", { word: "hi" }))
    })
    const results = yield* handle.pipe(Effect.provide(layer))
    expect(results.at(-1)).toMatchObject({ result: { ok: true, output: { said: "HI" } } })
    expect(Object.keys(toolkit.tools)).toEqual(["word_shout", "save", "steps"])
  }).pipe(Effect.provide(wordsHost()))
)

it.effect("asks whom the toolkit of effect/ai was given", () =>
  Effect.gen(function* () {
    const host = yield* Host
    const saved = (options?: Parameters<typeof effectToolkit>[1]) => {
      const { toolkit, layer } = effectToolkit(host, options)
      return Effect.gen(function* () {
        const kit = yield* toolkit
        const results = yield* Stream.runCollect(yield* kit.handle("save", { path: "a", content: "x" }))
        return results.at(-1)
      }).pipe(Effect.provide(layer))
    }
    expect(yield* saved({ ask: () => Effect.succeed({ approved: true }) })).toMatchObject({ result: { ok: true } })
    expect(yield* saved()).toMatchObject({ result: { ok: false, error: "approval_denied" } })
  }).pipe(Effect.provide(wordsHost()))
)
